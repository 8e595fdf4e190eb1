package io.github.iree4j.spring.ai.encoder;

import static io.github.iree4j.spring.test.IreeAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.TestTokenizers;
import io.github.iree4j.spring.test.AutoConfigureIree;
import io.github.iree4j.spring.test.FakePrograms;
import io.github.iree4j.spring.test.IreeTest;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** Requests of several callers whose texts go to variants of one length. */
@IreeTest(
        clock = AutoConfigureIree.Clock.STEPPED,
        properties = {
            "iree.modules.encoder.batching.enabled=true",
            "iree.modules.encoder.batching.max-delay=1h",
            "iree.modules.encoder.load=lazy",
            "iree.modules.encoder.location=file:scripted.vmfb"
        })
@Timeout(900)
class BatchedVariantRequestsTests {

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}

    /** The delay is an hour: the requests complete only if they fill the largest variant of their length together. */
    @Test
    void areMergedAndReceiveTheirOwnEmbeddings(
            @Autowired FakePrograms scripts,
            @Autowired Programs programs,
            @Autowired InvocationService invocations,
            @Autowired IreeRuntime runtime)
            throws Exception {
        ScriptedEncoder encoder = new ScriptedEncoder().variants(scripts, List.of("1x4", "1x8", "4x8"));
        List<String> texts = List.of("one two three", "six six six six", "two two two", "nine nine nine nine nine");
        List<Float> means = List.of((2 + 10 + 11 + 12 + 3) / 5f, (2 + 4 * 15 + 3) / 6f, 38 / 5f, (2 + 5 * 18 + 3) / 7f);
        try (HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            IreeEmbeddingModel model = new IreeEmbeddingModel(
                    programs, invocations, tokenizer, new TestSettings().settings(), ObservationRegistry.NOOP, null);
            List<Future<float[]>> futures = new ArrayList<>();
            for (String text : texts) {
                futures.add(threads.submit(() -> model.embed(text)));
            }
            while (!futures.stream().allMatch(Future::isDone)) {
                scripts.runUntil(scripts.now().plusNanos(1000)); // the device works, but the hour does not pass
                Thread.onSpinWait();
            }
            for (int i = 0; i < texts.size(); i++) {
                assertThat(futures.get(i).get()[0]).as(texts.get(i)).isEqualTo(means.get(i));
            }
        }
        assertThat(encoder.shapes()).containsExactly("4x8");
        assertThat(runtime).hasNoOpenTensors();
    }
}

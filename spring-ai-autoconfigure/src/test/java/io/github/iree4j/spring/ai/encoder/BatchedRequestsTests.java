package io.github.iree4j.spring.ai.encoder;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.batching.BatchListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Requests of several callers whose texts are padded to one length. */
@SpringBootTest(
        webEnvironment = WebEnvironment.NONE,
        properties = {
            "iree.ai.embedding.pad-to=8,16",
            "iree.modules.encoder.batching.enabled=true",
            "iree.modules.encoder.batching.max-size=4",
            "iree.modules.encoder.batching.max-delay=1h"
        })
@Timeout(900)
class BatchedRequestsTests {

    private static final AtomicInteger MOST_CALLS = new AtomicInteger();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        BatchListener largest() {
            return (model, function, calls, rows, padded, nanos) -> MOST_CALLS.accumulateAndGet(calls, Math::max);
        }
    }

    @Autowired
    private EmbeddingModel model;

    @DynamicPropertySource
    static void encoder(DynamicPropertyRegistry registry) {
        for (String property : SmallEncoder.properties()) {
            String[] parts = property.split("=", 2);
            registry.add(parts[0], () -> parts[1]);
        }
    }

    /** The delay is an hour: the requests complete only if they fill a batch together. */
    @Test
    void areMergedAndReceiveTheirOwnEmbeddings() throws Exception {
        List<String> texts = List.of("fence", "timeline of a device", "budget of a pool", "workers");
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<float[]>> futures = new ArrayList<>();
            for (String text : texts) {
                futures.add(threads.submit(() -> model.embed(text)));
            }
            List<float[]> together = new ArrayList<>();
            for (Future<float[]> future : futures) {
                together.add(future.get());
            }
            assertThat(MOST_CALLS).hasValue(4);
            List<float[]> expected = model.embed(texts); // four rows, a batch of its own
            for (int i = 0; i < texts.size(); i++) {
                assertThat(together.get(i)).isEqualTo(expected.get(i));
            }
        }
    }
}

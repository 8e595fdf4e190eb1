package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.encoder.EmbeddingSettings;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.core.io.AbstractResource;
import org.springframework.core.io.DefaultResourceLoader;

/** A request with a timeout waits no longer for a program that is not loaded. */
@Timeout(60)
class HungModelLoadTests {

    private static final Duration BRIEF = Duration.ofNanos(1);

    private final CountDownLatch answer = new CountDownLatch(1);
    private final IreeRuntime runtime = IreeRuntime.create();
    private final Programs programs = new Programs(runtime, resources());

    private DefaultResourceLoader resources() {
        DefaultResourceLoader resources = new DefaultResourceLoader();
        resources.addProtocolResolver((location, _) -> location.startsWith("hung:") ? new Hung() : null);
        return resources;
    }

    /** A file that is not read before the end of the test. */
    private final class Hung extends AbstractResource {
        @Override
        public boolean exists() {
            return true;
        }

        @Override
        public InputStream getInputStream() throws IOException {
            try {
                answer.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            return InputStream.nullInputStream();
        }

        @Override
        public String getDescription() {
            return "hung";
        }
    }

    @AfterEach
    void close() {
        answer.countDown();
        programs.close();
        runtime.close();
    }

    private static void isLate(ThrowingCallable call) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(call)
                .withMessageContaining("loading continues")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void requestForEmbeddings() {
        programs.define(ProgramSource.of("encoder", "hung:file"));
        try (HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert()) {
            IreeEmbeddingModel model = new IreeEmbeddingModel(
                    programs,
                    new InvocationService(programs),
                    tokenizer,
                    EmbeddingSettings.builder("encoder").build(),
                    ObservationRegistry.NOOP,
                    null);
            isLate(() ->
                    model.call(new EmbeddingRequest(List.of("one"), IreeEmbeddingOptions.DEFAULTS.timeout(BRIEF))));
        }
    }

    @Test
    void requestForAChat(@TempDir Path folder) {
        programs.define(ProgramSource.of("chat", "hung:file"));
        ChatSettings settings =
                ChatSettings.builder("chat", ByteTokenizer.write(folder)).build();
        try (IreeChatModel model = new IreeChatModel(programs, settings, ObservationRegistry.NOOP, null)) {
            isLate(() -> model.call(
                    new Prompt("hello", IreeChatOptions.builder().timeout(BRIEF).build())));
        }
    }
}

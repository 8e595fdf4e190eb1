package io.github.iree4j.spring.ai.encoder;

import static io.github.iree4j.spring.test.IreeAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationInterceptor;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.TestTokenizers;
import io.github.iree4j.spring.test.FakePrograms;
import io.github.iree4j.spring.test.IreeTest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** The program is replaced after the first call, or at each call. Its vectors identify the program. */
@IreeTest
@Timeout(900)
class ReplacedProgramTests {

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}

    @Autowired
    private FakePrograms scripts;

    @Autowired
    private Programs programs;

    @Autowired
    private IreeRuntime runtime;

    private final HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert();
    private final AtomicInteger calls = new AtomicInteger();

    @AfterEach
    void nothingIsLeft() {
        tokenizer.close();
        assertThat(runtime).hasNoOpenTensors();
        scripts.reset();
    }

    /** Vectors are as long as the program's number, and of nothing else. */
    private void program(int number) {
        scripts.program(
                "encoder",
                program -> program.function("main", "(tensor<2x?xi64>) -> tensor<2x%dxf32>".formatted(number))
                        .answers(inputs -> {
                            float[] values = new float[2 * number];
                            Arrays.fill(values, number);
                            return List.of(Tensor.of(values, 2, number));
                        }));
    }

    private IreeEmbeddingModel replaced(int times) {
        program(1);
        InvocationInterceptor replacing =
                (request, chain) -> chain.proceed(request).whenComplete((_, _) -> {
                    if (calls.incrementAndGet() <= times) {
                        program(calls.get() + 1);
                    }
                });
        return new IreeEmbeddingModel(
                programs,
                new InvocationService(programs, List.of(replacing)),
                tokenizer,
                new TestSettings().settings(),
                ObservationRegistry.NOOP,
                null);
    }

    @Test
    void embeddingsOfAResponseAreFromTheSameProgram() {
        List<float[]> vectors = replaced(1).embed(Collections.nCopies(6, "one"));
        assertThat(vectors).hasSize(6).allSatisfy(vector -> assertThat(vector).containsExactly(2, 2));
        assertThat(calls).as("one in vain").hasValue(4);
    }

    @Test
    void restartsAreLimited() {
        IreeEmbeddingModel model = replaced(Integer.MAX_VALUE);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> model.embed(Collections.nCopies(6, "one")))
                .withMessageContaining("program 'encoder' was replaced 5 times during a request of 6 texts")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.ABORTED));
        assertThat(model.embed(List.of("one", "two"))).as("one call").hasSize(2);
    }
}

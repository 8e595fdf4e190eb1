package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callbacks that leave the generator's thread interrupted, as code does that catches an InterruptedException. */
@Timeout(120)
class InterruptingCallbackTest {

    @ParameterizedTest
    @ValueSource(strings = {GeneratorTest.DECODER, GeneratorTest.TOP_ONE})
    void aCallbackInterruptingTheThreadFailsNoOtherRequest(String module) {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = GeneratorTest.load(runtime, module);
                Generator generator = Generator.create(
                        program,
                        GeneratorOptions.builder()
                                .config(GeneratorTest.config(module))
                                .pages(64)
                                .stepsAhead(4)
                                .build())) {
            GenerationRequest request = GenerationRequest.of(40, 72, 101, 108, 108, 111);
            List<Integer> expected = generator.submit(request).result().await().tokens();
            List<Generation> others = new ArrayList<>();
            for (int i = 1; i < 30; i++) {
                Generation brief = generator.submit(GenerationRequest.of(i, 72, 101, 108, 108, 111));
                brief.result().whenComplete((_, _) -> interrupt());
                generator.snapshot().whenComplete((_, _) -> interrupt());
                others.add(generator.submit(request));
            }
            for (Generation each : others) {
                assertThat(each.result().await().tokens()).isEqualTo(expected);
            }
        }
    }

    /** Interrupts the thread of a generator. A future that is complete already calls back on the thread of the test. */
    private static void interrupt() {
        if (Thread.currentThread().getName().startsWith("iree4j-generation")) {
            Thread.currentThread().interrupt();
        }
    }
}

package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link GenerationMix} on the CPU. */
@Tag("long")
@Timeout(4800)
class GenerationMixTest {
    private static final int ROUNDS = Effort.rounds(16, 2_000);
    private static final long SEED = Effort.seed(GenerationMixTest.class, ROUNDS + " rounds", 49);

    @ParameterizedTest
    @ValueSource(strings = {GeneratorTest.DECODER, GeneratorTest.FROM_START, GeneratorTest.TOP_ONE})
    void tokensOfARequestAreTheTokensOfAPlainLoop(String module) throws InterruptedException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = GeneratorTest.load(runtime, module);
                GenerationMix mix = new GenerationMix(program, program, GeneratorTest.config(module), 25, 31)) {
            for (int round = 0; round < ROUNDS; round++) {
                mix.round(SEED + round);
            }
            GenerationMix.Events events = mix.events();
            assertThat(events.preemptions()).as("preemptions").isPositive();
            assertThat(events.cancelled()).as("cancelled").isPositive();
            assertThat(events.late()).as("late").isPositive();
            if (!module.equals(GeneratorTest.FROM_START)) { // whose prefill cannot begin behind other tokens
                assertThat(events.sharedTokens()).as("shared tokens").isPositive();
                assertThat(events.acceptedTokens()).as("accepted tokens").isPositive();
            }
        }
    }
}

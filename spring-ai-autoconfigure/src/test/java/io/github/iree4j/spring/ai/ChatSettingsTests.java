package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.iree4j.generation.GeneratorOptions;
import io.github.iree4j.status.IreeException;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ByteArrayResource;

/** Limits of settings. */
class ChatSettingsTests {

    private static ChatSettings.Builder builder() {
        return ChatSettings.builder("chat", new ByteArrayResource(new byte[0]));
    }

    @Test
    void proposedTokensHaveTheLimitOfTheGenerator() {
        for (int valid : new int[] {0, 64}) {
            assertThat(builder().proposedTokens(valid).build().proposedTokens()).isEqualTo(valid);
            assertThat(GeneratorOptions.builder().proposedTokens(valid).build().proposedTokens())
                    .isEqualTo(valid);
        }
        for (int wrong : new int[] {-1, 65}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> builder().proposedTokens(wrong).build())
                    .withMessage(
                            "proposed-tokens must be from 0 to 64, not %d; 8 is a common number, 0 is for no proposals",
                            wrong);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() ->
                            GeneratorOptions.builder().proposedTokens(wrong).build());
        }
    }

    @Test
    void promptsOfTheMeasurementHaveTheLimitsOfTheGenerator() {
        for (int valid : new int[] {1, 1024}) {
            assertThat(builder().probePrompts(valid).build().probePrompts()).isEqualTo(valid);
            assertThat(GeneratorOptions.builder().probePrompts(valid).build().probePrompts())
                    .isEqualTo(valid);
        }
        for (int wrong : new int[] {-1, 0, 65}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> builder().stepsAhead(wrong).build())
                    .withMessage("steps-ahead must be from 1 to 64, not %d; 1 is for one step after the other", wrong);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(
                            () -> GeneratorOptions.builder().stepsAhead(wrong).build());
        }
        assertThat(builder().stepsAhead(64).build().stepsAhead()).isEqualTo(64);
        assertThat(builder().build().stepsAhead()).isEqualTo(GeneratorOptions.DEFAULTS.stepsAhead());
        assertThat(builder().build().probePrompts()).isEqualTo(GeneratorOptions.DEFAULTS.probePrompts());
        for (int wrong : new int[] {0, 1025}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> builder().probePrompts(wrong).build())
                    .withMessage("probe-prompts must be from 1 to 1024, not %d; 1 is the shortest measurement", wrong);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(
                            () -> GeneratorOptions.builder().probePrompts(wrong).build());
        }
    }
}

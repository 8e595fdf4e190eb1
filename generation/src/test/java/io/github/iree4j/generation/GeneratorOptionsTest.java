package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.junit.jupiter.api.Test;

class GeneratorOptionsTest {
    @Test
    void valuesOutOfRangeAreRejectedByName() {
        rejected(GeneratorOptions.builder().proposedTokens(65), "proposed tokens is 65, at most 64 is possible");
        rejected(GeneratorOptions.builder().proposedTokens(-1), "proposed tokens is -1, at least 0 is needed");
        rejected(GeneratorOptions.builder().probePrompts(1025), "prompts of the probe is 1025, at most 1024");
        rejected(GeneratorOptions.builder().probePrompts(0), "prompts of the probe is 0, at least 1 is needed");
        rejected(GeneratorOptions.builder().chunkTokens(Integer.MAX_VALUE), "at most 1048576 is possible");
        rejected(GeneratorOptions.builder().chunkTokens(0), "chunk tokens is 0, at least 1 is needed");
        rejected(
                GeneratorOptions.builder().draftConfig("small.json", "{}"),
                "the configuration 'small.json' is set for a draft, but no draft");
        GeneratorOptions most = GeneratorOptions.builder()
                .proposedTokens(64)
                .probePrompts(1024)
                .thoroughProbe(true)
                .chunkTokens(1 << 20)
                .build();
        assertThat(most.toBuilder().build()).usingRecursiveComparison().isEqualTo(most);
    }

    private static void rejected(GeneratorOptions.Builder options, String message) {
        assertThatThrownBy(options::build)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessageContaining(message);
    }
}

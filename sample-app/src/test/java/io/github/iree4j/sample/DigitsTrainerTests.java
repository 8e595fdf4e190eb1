package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("nightly")
class DigitsTrainerTests {

    @Test
    void trainingReproducesTheWeightsOfTheApplication(@TempDir Path directory) throws IOException {
        Path archive = directory.resolve("digits.irpa");
        DigitsTrainer.main(new String[] {archive.toString()});
        try (InputStream committed = getClass().getResourceAsStream("/models/digits.irpa")) {
            assertThat(archive).hasBinaryContent(committed.readAllBytes());
        }
    }

    @Test
    void trainingAndHeldOutDigitsDoNotOverlap() {
        HandwrittenDigits digits = HandwrittenDigits.load();
        assertThat(digits.training()).hasSize(1438);
        assertThat(digits.heldOut()).hasSize(359).doesNotContainAnyElementsOf(digits.training());
    }
}

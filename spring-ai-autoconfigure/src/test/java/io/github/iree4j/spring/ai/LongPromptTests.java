package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Texts with far more tokens than a sequence. The tokenizer takes 6 seconds for a million of them. */
@Timeout(120)
class LongPromptTests {
    @TempDir
    private Path folder;

    @Test
    void ofATooLongTextTheBeginIsTokenizedForAnyTokens() {
        ChatSettings settings =
                ChatSettings.builder("chat", ByteTokenizer.write(folder)).build();
        try (ChatEngine engine = new ChatEngine(ScriptedTokens.text("x"), settings)) {
            int most = engine.maximumTokens();
            String text = "Grüezi 🎉 ".repeat(200_000);
            assertThat(engine.encode(text)).hasSizeBetween(most + 1, 100_000);
            String whole = "Grüezi 🎉 ".repeat(2_000);
            assertThat(engine.encode(whole)).hasSize(ByteTokenizer.tokens(whole).size());
        }
    }
}

package io.github.iree4j.sample.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The checked-in encoder and reranker are reproducible from their sources. */
class EncoderTests {

    private static final Path SOURCES = Path.of("src/main/iree");

    @Test
    void sourcesAreUnchangedSinceCompilation() throws Exception {
        StringBuilder digests = new StringBuilder();
        for (String source : List.of("encoder.mlir", "reranker.mlir")) {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(SOURCES.resolve(source)));
            digests.append("%s  %s\n".formatted(HexFormat.of().formatHex(digest), source));
        }
        assertThat(Files.readString(SOURCES.resolve("sources.sha256")))
                .as("run src/main/iree/compile-models")
                .isEqualTo(digests.toString());
    }

    @Test
    @Tag("nightly")
    void encoderIsReproducible() throws Exception {
        List<Passage> passages = Markdown.passages("README.md", Files.readString(Path.of("../README.md")));
        EncoderTrainer.Encoder first = new EncoderTrainer(passages).train();
        EncoderTrainer.Encoder second = new EncoderTrainer(passages).train();
        assertThat(second.tokenizer()).isEqualTo(first.tokenizer());
        assertThat(second.table()).isEqualTo(first.table());
        assertThat(second.scale()).isEqualTo(first.scale());
    }
}

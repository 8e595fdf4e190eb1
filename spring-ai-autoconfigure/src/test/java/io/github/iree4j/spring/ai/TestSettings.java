package io.github.iree4j.spring.ai;

import java.time.Duration;
import java.util.List;
import org.springframework.ai.document.MetadataMode;

/** Settings of the module {@code encoder} that tests adapt; embeddings are not normalized, so that their numbers can be read. */
final class TestSettings {
    List<TokenInput> inputs = List.of();
    Pooling pooling;
    boolean normalize;
    Integer dimensions;
    Integer maxTokens;
    boolean truncate = true;
    int maxTextLength = 10_000;
    int maxRequestSize = 100;
    int maxBatchSize = 4;
    int maxBatchTokens = 1000;
    List<Integer> padTo = List.of();
    Duration timeout;
    MetadataMode metadataMode = MetadataMode.NONE;
    TextPrefixes prefixes = TextPrefixes.NONE;

    Activation activation = Activation.NONE;
    Integer topK;
    Double minScore;
    List<String> labels = List.of("low", "high");

    EncoderSettings encoder() {
        return new EncoderSettings(
                "encoder",
                null,
                inputs,
                TokenType.I64,
                0,
                maxTokens,
                truncate,
                maxTextLength,
                maxRequestSize,
                maxBatchSize,
                maxBatchTokens,
                padTo,
                0,
                timeout);
    }

    EmbeddingSettings settings() {
        return new EmbeddingSettings(encoder(), pooling, normalize, dimensions, metadataMode, prefixes);
    }

    RerankerSettings reranker() {
        return new RerankerSettings(encoder(), activation, topK, minScore, metadataMode);
    }

    ClassifierSettings classifier() {
        return new ClassifierSettings(encoder(), labels, activation);
    }
}

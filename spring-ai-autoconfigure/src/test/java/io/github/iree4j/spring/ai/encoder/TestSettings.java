package io.github.iree4j.spring.ai.encoder;

import java.time.Duration;
import java.util.List;
import org.springframework.ai.document.MetadataMode;
import org.springframework.boot.context.properties.PropertyMapper;

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

    private void configure(EncoderSettings.Builder builder) {
        builder.inputs(inputs)
                .truncate(truncate)
                .maxTextLength(maxTextLength)
                .maxRequestSize(maxRequestSize)
                .maxBatchSize(maxBatchSize)
                .maxBatchTokens(maxBatchTokens)
                .padTo(padTo);
        PropertyMapper present = PropertyMapper.get();
        present.from(maxTokens).to(builder::maxTokens);
        present.from(timeout).to(builder::timeout);
    }

    EncoderSettings encoder() {
        EncoderSettings.Builder builder = EncoderSettings.builder("encoder");
        configure(builder);
        return builder.build();
    }

    EmbeddingSettings settings() {
        EmbeddingSettings.Builder builder = EmbeddingSettings.builder("encoder")
                .encoder(this::configure)
                .normalize(normalize)
                .metadataMode(metadataMode)
                .prefixes(prefixes);
        PropertyMapper present = PropertyMapper.get();
        present.from(pooling).to(builder::pooling);
        present.from(dimensions).to(builder::dimensions);
        return builder.build();
    }

    RerankerSettings reranker() {
        RerankerSettings.Builder builder = RerankerSettings.builder("encoder")
                .encoder(this::configure)
                .activation(activation)
                .metadataMode(metadataMode);
        PropertyMapper present = PropertyMapper.get();
        present.from(topK).to(builder::topK);
        present.from(minScore).to(builder::minScore);
        return builder.build();
    }

    ClassifierSettings classifier() {
        return ClassifierSettings.builder("encoder", labels)
                .encoder(this::configure)
                .activation(activation)
                .build();
    }
}

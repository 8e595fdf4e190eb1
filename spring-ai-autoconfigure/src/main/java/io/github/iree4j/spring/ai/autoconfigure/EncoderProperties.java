package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.spring.ai.encoder.EncoderSettings;
import io.github.iree4j.spring.ai.encoder.TokenInput;
import io.github.iree4j.spring.ai.encoder.TokenType;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.PropertyMapper;

/** The properties that embedding model, reranker and classifier have in common, each under the prefix of the model. */
interface EncoderProperties {
    @Nullable
    String function();

    List<TokenInput> inputs();

    TokenType tokenType();

    int result();

    @Nullable
    Integer maxTokens();

    boolean truncate();

    int maxTextLength();

    int maxRequestSize();

    int maxBatchSize();

    int maxBatchTokens();

    List<Integer> padTo();

    long paddingId();

    @Nullable
    Duration timeout();

    /** Sets the settings of the properties. */
    default void configure(EncoderSettings.Builder encoder) {
        encoder.inputs(inputs())
                .tokenType(tokenType())
                .result(result())
                .truncate(truncate())
                .maxTextLength(maxTextLength())
                .maxRequestSize(maxRequestSize())
                .maxBatchSize(maxBatchSize())
                .maxBatchTokens(maxBatchTokens())
                .padTo(padTo())
                .paddingId(paddingId());
        PropertyMapper present = PropertyMapper.get();
        present.from(function()).to(encoder::function);
        present.from(maxTokens()).to(encoder::maxTokens);
        present.from(timeout()).to(encoder::timeout);
    }
}

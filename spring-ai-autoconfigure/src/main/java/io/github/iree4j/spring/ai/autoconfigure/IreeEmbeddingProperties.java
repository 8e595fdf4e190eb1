package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.spring.ai.encoder.EmbeddingSettings;
import io.github.iree4j.spring.ai.encoder.Pooling;
import io.github.iree4j.spring.ai.encoder.TextKind;
import io.github.iree4j.spring.ai.encoder.TextPrefixes;
import io.github.iree4j.spring.ai.encoder.TokenInput;
import io.github.iree4j.spring.ai.encoder.TokenType;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.document.MetadataMode;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.io.Resource;

/**
 * The {@code iree.ai.embedding.*} properties.
 *
 * @param module Module of 'iree.modules' for embedding texts. Required for an EmbeddingModel.
 * @param function Function of the module. Required if the module has several.
 * @param tokenizer Location of the model's tokenizer.json.
 * @param inputs Meaning of each argument of the function, in order. Required for more than two arguments without
 *     conventional names.
 * @param tokenType Integer type of tokens where the module neither declares nor proves the type of an argument.
 * @param result Index of the function's result with the vectors, from 0.
 * @param pooling How to combine token vectors. When not set, 'mean' if the function returns a vector for each token,
 *     and 'none' if the function returns a vector for each text.
 * @param normalize Whether to normalize embeddings to length 1.
 * @param dimensions Length of an embedding. Longer vectors are truncated, for models trained for truncation. When not
 *     set, the length returned by the function.
 * @param maxTokens Maximum number of tokens of a text, including special tokens. When not set, the limit of the
 *     tokenizer or the function, or 512.
 * @param truncate Whether to truncate texts with more tokens rather than reject them.
 * @param maxTextLength Maximum number of characters of a text.
 * @param maxRequestSize Maximum number of texts of a request.
 * @param maxBatchSize Maximum number of texts of a call, for functions with a dynamic number of texts.
 * @param maxBatchTokens Maximum number of tokens of a call, including padding, for functions with a dynamic number of
 *     texts. A single text may have more.
 * @param padTo Padded lengths of texts, in tokens, for functions of dynamic length without variants. Calls padded to
 *     the same length can be batched.
 * @param paddingId Id of the padding token.
 * @param timeout Maximum duration of a request, tokenization included. When not set, the module's timeout applies to
 *     each call.
 * @param metadataMode Metadata of a document to embed with the text.
 * @param prefix Prefixes of texts.
 */
@ConfigurationProperties("iree.ai.embedding")
public record IreeEmbeddingProperties(
        @Nullable String module,
        @Nullable String function,
        @Nullable Resource tokenizer,
        @DefaultValue List<TokenInput> inputs,
        @DefaultValue("i64") TokenType tokenType,
        @DefaultValue("0") int result,
        @Nullable Pooling pooling,
        @DefaultValue("true") boolean normalize,
        @Nullable Integer dimensions,
        @Nullable Integer maxTokens,
        @DefaultValue("true") boolean truncate,
        @DefaultValue("1048576") int maxTextLength,
        @DefaultValue("8192") int maxRequestSize,
        @DefaultValue("32") int maxBatchSize,
        @DefaultValue("8192") int maxBatchTokens,
        @DefaultValue List<Integer> padTo,
        @DefaultValue("0") long paddingId,
        @Nullable Duration timeout,
        @DefaultValue("none") MetadataMode metadataMode,
        @DefaultValue Prefix prefix)
        implements EncoderProperties {

    private static final String PREFIX = "iree.ai.embedding";

    /**
     * Prefixes of texts, for models trained with prefixes.
     *
     * @param query Prefix of queries. Counts toward the tokens of a text.
     * @param document Prefix of documents. Counts toward the tokens of a text.
     * @param strings Kind of texts passed as strings rather than documents, unless set by the request. Vector stores
     *     search by strings.
     */
    public record Prefix(
            @Nullable String query,
            @Nullable String document,
            @DefaultValue("query") TextKind strings) {

        TextPrefixes prefixes() {
            return new TextPrefixes(query == null ? "" : query, document == null ? "" : document, strings);
        }
    }

    TextModelSetup setup() {
        return new TextModelSetup(PREFIX, "embed texts", module);
    }

    EmbeddingSettings settings() {
        return TextModelSetup.settings(PREFIX, () -> {
            EmbeddingSettings.Builder builder = EmbeddingSettings.builder(String.valueOf(module))
                    .encoder(this::configure)
                    .normalize(normalize)
                    .metadataMode(metadataMode)
                    .prefixes(prefix.prefixes());
            PropertyMapper present = PropertyMapper.get();
            present.from(pooling).to(builder::pooling);
            present.from(dimensions).to(builder::dimensions);
            return builder.build();
        });
    }
}

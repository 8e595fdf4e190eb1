package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.spring.ai.encoder.Activation;
import io.github.iree4j.spring.ai.encoder.RerankerSettings;
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
 * The {@code iree.ai.reranker.*} properties.
 *
 * @param module Module of 'iree.modules' for reranking documents. Required for an IreeReranker.
 * @param function Function of the module. Required if the module has several.
 * @param tokenizer Location of the model's tokenizer.json. When not set, the tokenizer of the embedding model, or another
 *     bean of type TextTokenizer.
 * @param inputs Meaning of each argument of the function, in order. Required for more than two arguments without
 *     conventional names.
 * @param tokenType Integer type of tokens where the module neither declares nor proves the type of an argument.
 * @param result Index of the function's result with the scores, from 0.
 * @param activation How the function's numbers become scores, 'sigmoid' for logits, 'none' for scores.
 * @param maxTokens Maximum number of tokens of a query with a text, including special tokens. When not set, the limit of the
 *     tokenizer or the function, or 512.
 * @param truncate Whether to truncate pairs with more tokens rather than reject them.
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
 * @param metadataMode Metadata of a document to compare with the query, in addition to the text.
 * @param topK Maximum number of returned documents. When not set, all.
 * @param minScore Documents with a lower score are omitted. When not set, none.
 */
@ConfigurationProperties("iree.ai.reranker")
public record IreeRerankerProperties(
        @Nullable String module,
        @Nullable String function,
        @Nullable Resource tokenizer,
        @DefaultValue List<TokenInput> inputs,
        @DefaultValue("i64") TokenType tokenType,
        @DefaultValue("0") int result,
        @DefaultValue("sigmoid") Activation activation,
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
        @Nullable Integer topK,
        @Nullable Double minScore)
        implements EncoderProperties {

    private static final String PREFIX = "iree.ai.reranker";

    TextModelSetup setup() {
        return new TextModelSetup(PREFIX, "rerank texts", module);
    }

    RerankerSettings settings() {
        return TextModelSetup.settings(PREFIX, () -> {
            RerankerSettings.Builder builder = RerankerSettings.builder(String.valueOf(module))
                    .encoder(this::configure)
                    .activation(activation)
                    .metadataMode(metadataMode);
            PropertyMapper present = PropertyMapper.get();
            present.from(topK).to(builder::topK);
            present.from(minScore).to(builder::minScore);
            return builder.build();
        });
    }
}

package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.spring.ai.EmbeddingSettings;
import io.github.iree4j.spring.ai.Pooling;
import io.github.iree4j.spring.ai.TextKind;
import io.github.iree4j.spring.ai.TextPrefixes;
import io.github.iree4j.spring.ai.TokenInput;
import io.github.iree4j.spring.ai.TokenType;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.document.MetadataMode;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.io.Resource;
import org.springframework.util.StringUtils;

/**
 * The {@code iree.ai.embedding.*} properties.
 *
 * @param module Module of 'iree.modules' that embeds texts. There is no EmbeddingModel without it.
 * @param function Its function, where it has several.
 * @param tokenizer The tokenizer.json of the model.
 * @param inputs What each argument of the function is, in their order. Needed where there are more than two and their names do not say it.
 * @param tokenType What tokens are where the function does not declare its arguments, as those that come from ONNX or PyTorch do not.
 * @param result Which result of the function holds the vectors, from 0.
 * @param pooling How the vectors of a text's tokens become one. Unless set, 'mean' where the function returns one for each token, and 'none' where it returns one for each text.
 * @param normalize Whether embeddings have length 1.
 * @param dimensions How many numbers an embedding has. Longer ones are cut, as models allow that were trained for it. Unless set, what the function returns.
 * @param maxTokens Most tokens of a text, special ones included. Unless set, what the tokenizer or the function says, or 512.
 * @param truncate Whether texts with more tokens are cut. They are refused otherwise.
 * @param maxTextLength Most characters of a text.
 * @param maxRequestSize Most texts of a request.
 * @param maxBatchSize Most texts of one call, where the function takes any number.
 * @param maxBatchTokens Most tokens of one call, padding included, where the function takes any number of texts. A single text may have more.
 * @param padTo Lengths, in tokens, that texts are padded to, where the function takes any and has no variants. Calls padded to the same can be batched.
 * @param paddingId Number of the token that texts of a call are padded with to the longest of them.
 * @param timeout How long a request may take, tokenizing included. Unless set, each call has the timeout of its module.
 * @param metadataMode Which metadata of a document are embedded with its text.
 * @param prefix What is put before texts.
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
        @DefaultValue Prefix prefix) {

    /**
     * What is put before texts, for models that were trained so.
     *
     * @param query What is put before queries. Counts among the tokens of a text.
     * @param document What is put before documents. Counts among the tokens of a text.
     * @param strings What texts are that come as strings and not as documents, where the options of the request do not say it. Vector stores search by strings.
     */
    public record Prefix(
            @Nullable String query,
            @Nullable String document,
            @DefaultValue("query") TextKind strings) {

        TextPrefixes prefixes() {
            return new TextPrefixes(query == null ? "" : query, document == null ? "" : document, strings);
        }
    }

    EmbeddingSettings settings() {
        try {
            return new EmbeddingSettings(
                    String.valueOf(module),
                    function,
                    inputs,
                    tokenType,
                    result,
                    pooling,
                    normalize,
                    dimensions,
                    maxTokens,
                    truncate,
                    maxTextLength,
                    maxRequestSize,
                    maxBatchSize,
                    maxBatchTokens,
                    padTo,
                    paddingId,
                    timeout,
                    metadataMode,
                    prefix.prefixes());
        } catch (IllegalArgumentException e) {
            throw new InvalidConfigurationPropertyValueException(
                    "iree.ai.embedding", this, StringUtils.capitalize(String.valueOf(e.getMessage())) + ".");
        }
    }
}

package io.github.iree4j.spring.ai.autoconfigure;

import io.github.iree4j.spring.ai.ModelLabels;
import io.github.iree4j.spring.ai.encoder.Activation;
import io.github.iree4j.spring.ai.encoder.ClassifierSettings;
import io.github.iree4j.spring.ai.encoder.TokenInput;
import io.github.iree4j.spring.ai.encoder.TokenType;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.io.Resource;

/**
 * The {@code iree.ai.classifier.*} properties.
 *
 * @param module Module of 'iree.modules' for classifying texts. Required for an IreeClassifier.
 * @param function Function of the module. Required if the module has several.
 * @param tokenizer Location of the model's tokenizer.json. When not set, the tokenizer of the embedding model, or another
 *     bean of type TextTokenizer.
 * @param inputs Meaning of each argument of the function, in order. Required for more than two arguments without
 *     conventional names.
 * @param tokenType Integer type of tokens where the module neither declares nor proves the type of an argument.
 * @param result Index of the function's result with the numbers of the labels, from 0.
 * @param labels Label of each column of the result, in order. When not set, the labels of 'config'.
 * @param config Location of the model's config.json, whose 'id2label' has the labels.
 * @param activation How the function's numbers become probabilities, 'softmax' if a text has one label, 'sigmoid' if a
 *     text has any number of labels, 'none' for probabilities.
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
 */
@ConfigurationProperties("iree.ai.classifier")
public record IreeClassifierProperties(
        @Nullable String module,
        @Nullable String function,
        @Nullable Resource tokenizer,
        @DefaultValue List<TokenInput> inputs,
        @DefaultValue("i64") TokenType tokenType,
        @DefaultValue("0") int result,
        @DefaultValue List<String> labels,
        @Nullable Resource config,
        @DefaultValue("softmax") Activation activation,
        @Nullable Integer maxTokens,
        @DefaultValue("true") boolean truncate,
        @DefaultValue("1048576") int maxTextLength,
        @DefaultValue("8192") int maxRequestSize,
        @DefaultValue("32") int maxBatchSize,
        @DefaultValue("8192") int maxBatchTokens,
        @DefaultValue List<Integer> padTo,
        @DefaultValue("0") long paddingId,
        @Nullable Duration timeout)
        implements EncoderProperties {

    private static final String PREFIX = "iree.ai.classifier";

    TextModelSetup setup() {
        return new TextModelSetup(PREFIX, "classify texts", module);
    }

    ClassifierSettings settings() {
        List<String> known = known();
        return TextModelSetup.settings(
                PREFIX,
                () -> ClassifierSettings.builder(String.valueOf(module), known)
                        .encoder(this::configure)
                        .activation(activation)
                        .build());
    }

    private List<String> known() {
        if (!labels.isEmpty()) {
            return labels;
        }
        if (config == null) {
            throw new TextModelUnavailableException(
                    "Module '%s' is configured to classify texts, but has no labels.".formatted(module),
                    "Set 'iree.ai.classifier.labels', in the order of the program's result, or 'iree.ai.classifier.config' to the config.json of the model.",
                    null);
        }
        try {
            return ModelLabels.load(config);
        } catch (IreeException e) {
            throw new TextModelUnavailableException(
                    "The labels of 'iree.ai.classifier.config' cannot be used: %s.".formatted(e.getMessage()),
                    "Set it to the config.json of the model, or name the labels in 'iree.ai.classifier.labels'.",
                    e);
        }
    }
}

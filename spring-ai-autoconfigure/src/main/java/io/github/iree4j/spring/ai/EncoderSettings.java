package io.github.iree4j.spring.ai;

import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings common to all models on text encoders: how to call the program, and limits.
 *
 * @param module name of the program, also used as the name of the model
 * @param function name of the function; null for the program's only function
 * @param inputs meaning of each argument of the function, in order; empty with conventional names or at most two
 *     arguments
 * @param tokenType the token type where the module neither declares nor proves the type of an argument
 * @param result index of the used result, from 0
 * @param maxTokens maximum number of tokens of a text, or of a query with a text, including special tokens; null for
 *     the tokenizer's limit, or 512
 * @param truncate whether longer texts are truncated rather than rejected
 * @param maxTextLength maximum number of characters of a text
 * @param maxRequestSize maximum number of texts of a request
 * @param maxBatchSize maximum number of texts of a call, for programs with a dynamic number of texts
 * @param maxBatchTokens maximum number of tokens of a call, including padding, for programs with a dynamic number of
 *     texts; a single text may have more
 * @param padTo padded lengths of texts, in tokens, for programs without variants; a batch beyond the largest length is
 *     padded to the longest text
 * @param paddingId id of the padding token
 * @param timeout maximum duration of a request, tokenization included; null for none
 */
public record EncoderSettings(
        String module,
        @Nullable String function,
        List<TokenInput> inputs,
        TokenType tokenType,
        int result,
        @Nullable Integer maxTokens,
        boolean truncate,
        int maxTextLength,
        int maxRequestSize,
        int maxBatchSize,
        int maxBatchTokens,
        List<Integer> padTo,
        long paddingId,
        @Nullable Duration timeout) {

    /** The token limit when neither settings nor tokenizer define a limit. */
    static final int USUAL_MAX_TOKENS = 512;

    /**
     * Checks ranges.
     *
     * @throws IllegalArgumentException when a value is out of range, naming the setting
     */
    public EncoderSettings {
        inputs = List.copyOf(inputs);
        padTo = padTo.stream().sorted().toList();
        if (inputs.stream().distinct().count() < inputs.size()) {
            throw new IllegalArgumentException("inputs must differ: " + inputs);
        }
        if (!inputs.isEmpty() && !inputs.contains(TokenInput.INPUT_IDS)) {
            throw new IllegalArgumentException("inputs must contain input-ids: " + inputs);
        }
        atLeast(0, result, "result");
        atLeast(1, maxTokens == null ? 1 : maxTokens, "max-tokens");
        atLeast(1, maxTextLength, "max-text-length");
        atLeast(1, maxRequestSize, "max-request-size");
        atLeast(1, maxBatchSize, "max-batch-size");
        atLeast(1, maxBatchTokens, "max-batch-tokens");
        atLeast(1, padTo.isEmpty() ? 1 : padTo.getFirst(), "pad-to");
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new IllegalArgumentException("timeout must be positive, not " + DurationText.of(timeout));
        }
    }

    static void atLeast(long least, long value, String what) {
        if (value < least) {
            throw new IllegalArgumentException("%s must be at least %d, not %d".formatted(what, least, value));
        }
    }

    /**
     * Returns the default settings of the properties.
     *
     * @param module name of the program
     * @return the settings
     */
    public static EncoderSettings of(String module) {
        return new EncoderSettings(
                module, null, List.of(), TokenType.I64, 0, null, true, 1 << 20, 8192, 32, 8192, List.of(), 0, null);
    }
}

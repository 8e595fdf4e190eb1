package io.github.iree4j.spring.ai;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.document.MetadataMode;

/**
 * What an {@link IreeEmbeddingModel} has to know of its program, and what it may take.
 *
 * @param module name of the program, which is the name of the model as well
 * @param function name of its function; null for the only one it has
 * @param inputs what each argument of the function is, in their order; empty where their names say it or there are at most two
 * @param tokenType what tokens are where the function does not declare its arguments, as those that come from ONNX or PyTorch do not
 * @param result which result of the function, from 0
 * @param pooling how the vectors of tokens become one; null for {@link Pooling#NONE} where the result has two dimensions and {@link
 *     Pooling#MEAN} where it has three
 * @param normalize whether embeddings have length 1
 * @param dimensions how many numbers an embedding has: longer ones of the program are cut; null for those of the program
 * @param maxTokens most tokens of a text, special ones included; null for what the tokenizer says, or 512
 * @param truncate whether longer texts are cut; else they are refused
 * @param maxTextLength most characters of a text
 * @param maxRequestSize most texts of a request
 * @param maxBatchSize most texts of one call of the program, where it takes any number
 * @param maxBatchTokens most tokens of one call, padding included, where the program takes any number of texts; a text of its own may have more
 * @param padTo lengths, in tokens, that texts are padded to, for programs without variants; a batch without one that is long enough is padded to its longest text
 * @param paddingId number of the token that texts are padded with
 * @param timeout how long a request may take, tokenizing included; null for as long as it takes
 * @param metadataMode which metadata of a document are embedded with its text
 * @param prefixes what is put before texts
 */
public record EmbeddingSettings(
        String module,
        @Nullable String function,
        List<TokenInput> inputs,
        TokenType tokenType,
        int result,
        @Nullable Pooling pooling,
        boolean normalize,
        @Nullable Integer dimensions,
        @Nullable Integer maxTokens,
        boolean truncate,
        int maxTextLength,
        int maxRequestSize,
        int maxBatchSize,
        int maxBatchTokens,
        List<Integer> padTo,
        long paddingId,
        @Nullable Duration timeout,
        MetadataMode metadataMode,
        TextPrefixes prefixes) {

    /** Where neither settings nor tokenizer say how many tokens of a text a model looks at. */
    static final int USUAL_MAX_TOKENS = 512;

    /**
     * Checks ranges.
     *
     * @throws IllegalArgumentException naming the one that is not in its range
     */
    public EmbeddingSettings {
        inputs = List.copyOf(inputs);
        padTo = padTo.stream().sorted().toList();
        if (inputs.stream().distinct().count() < inputs.size()) {
            throw new IllegalArgumentException("inputs must differ: " + inputs);
        }
        if (!inputs.isEmpty() && !inputs.contains(TokenInput.INPUT_IDS)) {
            throw new IllegalArgumentException("inputs must contain input-ids: " + inputs);
        }
        atLeast(0, result, "result");
        atLeast(1, dimensions == null ? 1 : dimensions, "dimensions");
        atLeast(1, maxTokens == null ? 1 : maxTokens, "max-tokens");
        atLeast(1, maxTextLength, "max-text-length");
        atLeast(1, maxRequestSize, "max-request-size");
        atLeast(1, maxBatchSize, "max-batch-size");
        atLeast(1, maxBatchTokens, "max-batch-tokens");
        atLeast(1, padTo.isEmpty() ? 1 : padTo.getFirst(), "pad-to");
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new IllegalArgumentException("timeout must be positive, not " + timeout);
        }
    }

    private static void atLeast(long least, long value, String what) {
        if (value < least) {
            throw new IllegalArgumentException("%s must be at least %d, not %d".formatted(what, least, value));
        }
    }

    /**
     * Settings as the properties have them by default.
     *
     * @param module name of the program
     * @return to be adapted
     */
    public static EmbeddingSettings of(String module) {
        return new EmbeddingSettings(
                module,
                null,
                List.of(),
                TokenType.I64,
                0,
                null,
                true,
                null,
                null,
                true,
                1 << 20,
                8192,
                32,
                8192,
                List.of(),
                0,
                null,
                MetadataMode.NONE,
                TextPrefixes.NONE);
    }
}

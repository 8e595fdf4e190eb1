package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;

/** Divides the texts of a request into calls of the program. Used once. */
final class BatchPlan {

    /*
     * The cost of a call is known in advance: the tokens, padding included, at the price of the shape, plus a constant
     * per call. With texts sorted by length, some cheapest plan has only contiguous ranges as calls: a call is as long
     * as the longest text, and exchanging texts between two calls until the longer texts are in the longer call
     * lengthens neither call. So best[n], the minimum cost for the n shortest texts, is best[n - k] plus one call for
     * the next k, for some k.
     */

    /**
     * Constant cost of a call, in tokens: MiniLM takes twice as long per token for 16 tokens as for 256. A guess for
     * other models.
     */
    static final int CALL = 16;

    private final List<Tokens> tokens;
    private final EncoderSignature encoder;
    private final EncoderSettings settings;
    private final List<Integer> byLength;

    /**
     * Creates a plan.
     *
     * @param tokens the tokens of each text, at least one and at most as many as the encoder takes
     * @param encoder the signature of the program
     * @param settings limits of calls with a dynamic number of texts
     */
    BatchPlan(List<Tokens> tokens, EncoderSignature encoder, EncoderSettings settings) {
        this.tokens = tokens;
        this.encoder = encoder;
        this.settings = settings;
        this.byLength = IntStream.range(0, tokens.size())
                .boxed()
                .sorted((a, b) -> Integer.compare(size(a), size(b)))
                .toList();
    }

    private int size(int text) {
        return tokens.get(text).size();
    }

    /** Returns batches containing each text once. */
    List<TokenBatch> batches() {
        int count = byLength.size();
        int most = Math.min(
                count,
                encoder.shapes().stream()
                        .mapToInt(shape -> shape.rows() > 0 ? shape.rows() : settings.maxBatchSize())
                        .max()
                        .orElseThrow());
        double[] best = new double[count + 1];
        int[] taken = new int[count + 1];
        int longest = 0;
        double[] costs = {};
        for (int end = 1; end <= count; end++) {
            if (size(byLength.get(end - 1)) != longest) {
                longest = size(byLength.get(end - 1));
                costs = costs(longest, most);
            }
            best[end] = Double.POSITIVE_INFINITY;
            for (int k = 1; k <= Math.min(end, most); k++) {
                if (!encoder.masks() && size(byLength.get(end - k)) != longest) {
                    break; // without a mask shorter texts cannot be distinguished from padding
                }
                double cost = best[end - k] + costs[k];
                if (cost < best[end]) {
                    best[end] = cost;
                    taken[end] = k;
                }
            }
        }
        Deque<TokenBatch> batches = new ArrayDeque<>();
        for (int end = count; end > 0; end -= taken[end]) {
            batches.addFirst(batch(byLength.subList(end - taken[end], end)));
        }
        return List.copyOf(batches);
    }

    /** Pads to the fixed sizes of the program; the runtime pads to the shape of a variant. */
    private TokenBatch batch(List<Integer> texts) {
        return new TokenBatch(
                texts,
                encoder.rows() > 0 ? encoder.rows() : texts.size(),
                encoder.length() > 0 ? encoder.length() : padded(size(texts.getLast())));
    }

    /** Returns the cost of calls by number of texts, given the number of tokens of the longest text. */
    private double[] costs(int longest, int most) {
        double[] open = new double[most + 1];
        double[] filled = new double[most + 1];
        Arrays.fill(open, Double.POSITIVE_INFINITY);
        Arrays.fill(filled, Double.POSITIVE_INFINITY);
        for (CallShape shape : encoder.shapes()) {
            int length = shape.length() > 0 ? shape.length() : padded(longest);
            double row = shape.price() * length;
            if (length < longest) {
                continue;
            }
            if (shape.rows() > 0) {
                int at = Math.min(most, shape.rows());
                filled[at] = Math.min(filled[at], row * shape.rows());
                continue;
            }
            int limit = Math.min(settings.maxBatchSize(), Math.max(1, settings.maxBatchTokens() / length));
            for (int k = 1; k <= Math.min(limit, most); k++) {
                open[k] = Math.min(open[k], row * k);
            }
        }
        for (int k = most; k > 0; k--) {
            filled[k] = Math.min(filled[k], k < most ? filled[k + 1] : filled[k]); // fewer texts fit too
            open[k] = Math.min(open[k], filled[k]) + CALL;
        }
        return open;
    }

    private int padded(int size) {
        return encoder.masks()
                ? settings.padTo().stream()
                        .filter(each -> each >= size)
                        .findFirst()
                        .orElse(size)
                : size;
    }
}

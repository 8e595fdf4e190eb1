package io.github.iree4j.generation.sampling;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The texts of tokens, which a constraint compares with the text that may follow. Immutable.
 *
 * <p>The texts are in the order of their bytes, so that tokens with a common beginning are neighbours, and a byte that
 * cannot follow excludes all of the neighbours at once:
 *
 * <pre>
 *   texts     a   ab   abc   abd   b
 *   shared    0   1    2     2     0     bytes in common with the text before
 *   ends      a   b    c     d     b     the other bytes, side by side: following them in memory takes most of the time
 * </pre>
 */
public final class TokenVocabulary {
    private static final byte[] NONE = {};
    private static final int BYTES = 256;
    private static final TokenVocabulary OF_BYTES = of(
            IntStream.range(0, BYTES).mapToObj(each -> new byte[] {(byte) each}).toList());

    private final byte[][] texts; // by token; empty for a token without text
    private final int[] order; // tokens with text, by text
    private final int[] shared; // by place in the order
    private final byte[] ends; // in the order
    private final int[] starts; // of the ends, by place in the order, and the size of all
    private final int longest;

    private TokenVocabulary(byte[][] texts) {
        this.texts = texts;
        this.order = IntStream.range(0, texts.length)
                .filter(each -> texts[each].length > 0)
                .boxed()
                .sorted(Comparator.comparing((Integer each) -> texts[each], Arrays::compareUnsigned))
                .mapToInt(each -> each)
                .toArray();
        this.shared = new int[order.length];
        this.starts = new int[order.length + 1];
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < order.length; i++) {
            byte[] text = texts[order[i]];
            int differs = i == 0 ? 0 : Arrays.mismatch(texts[order[i - 1]], text);
            shared[i] = differs < 0 ? text.length : differs;
            bytes.write(text, shared[i], text.length - shared[i]);
            starts[i + 1] = bytes.size();
        }
        this.ends = bytes.toByteArray();
        this.longest = Arrays.stream(texts).mapToInt(each -> each.length).max().orElse(0);
    }

    /**
     * Creates a vocabulary.
     *
     * @param texts by token, the bytes that the token adds to the text, in UTF-8, possibly parts of characters; empty for a
     *     token that adds none, such as the end; copied
     * @return the vocabulary
     */
    public static TokenVocabulary of(List<byte[]> texts) {
        return new TokenVocabulary(texts.stream()
                .map(each -> each.length == 0 ? NONE : each.clone())
                .toArray(byte[][]::new));
    }

    /** Returns the vocabulary of models with a token for each byte. */
    public static TokenVocabulary bytes() {
        return OF_BYTES;
    }

    /** Returns the number of tokens. */
    public int size() {
        return texts.length;
    }

    /** Returns the number of bytes of the longest text. */
    int longest() {
        return longest;
    }

    /** Returns the bytes of a token, not copied; empty for a token unknown or without text. */
    byte[] text(int token) {
        return token < texts.length ? texts[token] : NONE;
    }

    /** Returns a set of bits, by token: whether the token's text may follow in a state. */
    long[] following(ByteAutomaton automaton, int state) {
        long[] tokens = new long[Math.ceilDiv(texts.length, Long.SIZE)];
        int[] states = new int[longest + 1]; // after bytes of the current text
        states[0] = state;
        int dead = Integer.MAX_VALUE; // index of the byte that cannot follow
        for (int i = 0; i < order.length; i++) {
            if (shared[i] > dead) {
                continue;
            }
            dead = Integer.MAX_VALUE;
            int length = shared[i];
            int now = states[length];
            for (int at = starts[i]; at < starts[i + 1]; at++) {
                now = automaton.next(now, Byte.toUnsignedInt(ends[at]));
                if (now == ByteAutomaton.DEAD) {
                    dead = length;
                    break;
                }
                states[++length] = now;
            }
            if (dead == Integer.MAX_VALUE) {
                tokens[order[i] / Long.SIZE] |= 1L << order[i];
            }
        }
        return tokens;
    }
}

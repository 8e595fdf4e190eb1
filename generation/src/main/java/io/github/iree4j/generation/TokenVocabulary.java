package io.github.iree4j.generation;

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
        for (int i = 1; i < order.length; i++) {
            int differs = Arrays.mismatch(texts[order[i - 1]], texts[order[i]]);
            shared[i] = differs < 0 ? texts[order[i]].length : differs;
        }
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
            byte[] text = texts[order[i]];
            dead = Integer.MAX_VALUE;
            for (int at = shared[i]; at < text.length; at++) {
                states[at + 1] = automaton.next(states[at], Byte.toUnsignedInt(text[at]));
                if (states[at + 1] == ByteAutomaton.DEAD) {
                    dead = at;
                    break;
                }
            }
            if (dead == Integer.MAX_VALUE) {
                tokens[order[i] / Long.SIZE] |= 1L << order[i];
            }
        }
        return tokens;
    }
}

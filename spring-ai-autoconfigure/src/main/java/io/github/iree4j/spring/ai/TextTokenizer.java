package io.github.iree4j.spring.ai;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.OptionalInt;

/** Tokenizes texts as the model was trained. Implementations are thread-safe. */
public interface TextTokenizer {

    /**
     * Returns all tokens of a text. Tokens at the start must not depend on text far behind: of a long text, only the
     * part used by the model is passed.
     *
     * @param text any text, empty included
     * @return the tokens, with the special tokens of the model, without padding
     * @throws IreeException INVALID_ARGUMENT when the text cannot be tokenized; FAILED_PRECONDITION when the tokenizer
     *     is closed
     */
    Tokens tokenize(String text);

    /**
     * Returns the declared maximum number of tokens of a text, including special tokens.
     *
     * @return at least 1; empty when not declared
     */
    default OptionalInt maxTokens() {
        return OptionalInt.empty();
    }

    /**
     * Returns all tokens of two texts that a model compares, such as a query and a document. By default, the tokens of
     * the first text with type 0, then the tokens of the second, without special tokens at the start, with type 1, as
     * BERT has pairs.
     *
     * @param first any text, empty included
     * @param second any text, empty included
     * @return the tokens, with the special tokens of the model, without padding
     * @throws IreeException as {@link #tokenize} does
     */
    default Tokens tokenizePair(String first, String second) {
        Tokens before = tokenize(first);
        Tokens after = tokenize(second);
        int start = 0;
        while (start < after.size() && after.sequences[start] == Tokens.SPECIAL) {
            start++;
        }
        int size = before.size() + after.size() - start;
        long[] ids = Arrays.copyOf(before.ids, size);
        long[] typeIds = new long[size];
        byte[] sequences = Arrays.copyOf(before.sequences, size);
        for (int i = before.size(); i < size; i++) {
            int from = i - before.size() + start;
            ids[i] = after.ids[from];
            typeIds[i] = 1;
            sequences[i] = after.sequences[from] == Tokens.SPECIAL ? Tokens.SPECIAL : 1;
        }
        return new Tokens(ids, typeIds, sequences);
    }

    /**
     * The tokens of a text, or of two texts.
     *
     * @param ids token ids; must not be modified
     * @param typeIds segment of each token; as many as ids
     * @param sequences the text of each token, 0 for the first and 1 for the second, or {@link #SPECIAL}; as many as ids
     */
    record Tokens(long[] ids, long[] typeIds, byte[] sequences) {

        /** Marks a token that the tokenizer adds to the texts. */
        public static final byte SPECIAL = -1;

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when the numbers are inconsistent
         */
        public Tokens {
            if (typeIds.length != ids.length || sequences.length != ids.length) {
                throw new IllegalArgumentException(
                        "%d tokens with %d types of %d texts".formatted(ids.length, typeIds.length, sequences.length));
            }
            for (byte sequence : sequences) {
                if (sequence < SPECIAL || sequence > 1) {
                    throw new IllegalArgumentException("a token of text %d; there are 0 and 1".formatted(sequence));
                }
            }
        }

        /**
         * The tokens of one text.
         *
         * @param ids token ids; must not be modified
         * @param typeIds segment of each token; as many as ids
         * @param leading number of special tokens at the start
         * @param trailing number of special tokens at the end
         * @throws IllegalArgumentException when the numbers are inconsistent
         */
        public Tokens(long[] ids, long[] typeIds, int leading, int trailing) {
            this(ids, typeIds, sequences(ids.length, leading, trailing));
        }

        private static byte[] sequences(int size, int leading, int trailing) {
            if (leading < 0 || trailing < 0 || leading + trailing > size) {
                throw new IllegalArgumentException(
                        "%d tokens with %d special ones before and %d behind".formatted(size, leading, trailing));
            }
            byte[] sequences = new byte[size];
            Arrays.fill(sequences, 0, leading, SPECIAL);
            Arrays.fill(sequences, size - trailing, size, SPECIAL);
            return sequences;
        }

        /** Number of tokens. */
        public int size() {
            return ids.length;
        }

        /**
         * Counts the tokens of a text.
         *
         * @param sequence 0 for the first text, 1 for the second, or {@link #SPECIAL} for special tokens
         * @return the number of tokens
         */
        public int size(int sequence) {
            int count = 0;
            for (byte each : sequences) {
                count += each == sequence ? 1 : 0;
            }
            return count;
        }

        /**
         * Truncates the texts at the end; keeps special tokens. Of two texts, the longer is truncated first, to the
         * length of the other, then both.
         *
         * @param most maximum number of tokens
         * @return the truncated tokens; this instance if within the limit
         * @throws IreeException INVALID_ARGUMENT when special tokens leave no room for text
         */
        public Tokens cut(int most) {
            if (ids.length <= most) {
                return this;
            }
            int first = size(0);
            int second = size(1);
            int room = most - size(SPECIAL);
            int least = Math.min(1, first) + Math.min(1, second);
            if (room < least) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "%d tokens leave no room for text next to %d special ones, at least %d are needed"
                                .formatted(most, size(SPECIAL), size(SPECIAL) + least));
            }
            int keptFirst = Math.min(first, Math.max(room - second, (room + 1) / 2));
            return kept(keptFirst, Math.min(second, room - keptFirst));
        }

        private Tokens kept(int first, int second) {
            int[] left = {first, second};
            int size = size(SPECIAL) + first + second;
            long[] keptIds = new long[size];
            long[] keptTypes = new long[size];
            byte[] keptSequences = new byte[size];
            int at = 0;
            for (int i = 0; i < ids.length; i++) {
                if (sequences[i] == SPECIAL || left[sequences[i]]-- > 0) {
                    keptIds[at] = ids[i];
                    keptTypes[at] = typeIds[i];
                    keptSequences[at++] = sequences[i];
                }
            }
            return new Tokens(keptIds, keptTypes, keptSequences);
        }
    }
}

package io.github.iree4j.spring.ai;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.OptionalInt;

/** Makes tokens of texts, as the model was trained. Implementations are safe for use by any number of threads. */
public interface TextTokenizer {

    /**
     * Makes the tokens of a text, all of them. Those at its start must not depend on what comes far behind them: of a long text only so much
     * is given to this as the model looks at.
     *
     * @param text any text, empty included
     * @return its tokens with the special ones that the model wants around them, without padding
     * @throws IreeException INVALID_ARGUMENT when it cannot be tokenized; FAILED_PRECONDITION when this is closed
     */
    Tokens tokenize(String text);

    /**
     * Returns how many tokens of a text the model is said to look at, special ones included.
     *
     * @return at least 1; empty where nothing is said
     */
    default OptionalInt maxTokens() {
        return OptionalInt.empty();
    }

    /**
     * The tokens of a text.
     *
     * @param ids their numbers; not to be changed
     * @param typeIds for each which of two texts it belongs to; as many as there are ids
     * @param leading how many special tokens are at the start
     * @param trailing how many special tokens are at the end
     */
    record Tokens(long[] ids, long[] typeIds, int leading, int trailing) {

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when they do not fit each other
         */
        public Tokens {
            if (typeIds.length != ids.length || leading < 0 || trailing < 0 || leading + trailing > ids.length) {
                throw new IllegalArgumentException("%d tokens with %d types, %d special ones before and %d behind"
                        .formatted(ids.length, typeIds.length, leading, trailing));
            }
        }

        /** Number of tokens. */
        public int size() {
            return ids.length;
        }

        /**
         * Cuts the end of the text off; special tokens stay.
         *
         * @param most how many tokens may be left
         * @return tokens, these if there are no more than that
         * @throws IreeException INVALID_ARGUMENT when there is no room beside the special tokens
         */
        public Tokens cut(int most) {
            if (ids.length <= most) {
                return this;
            }
            int kept = most - trailing;
            if (kept <= leading) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "%d tokens leave no room for text beside %d special ones; raise iree.ai.embedding.max-tokens"
                                .formatted(most, leading + trailing));
            }
            return new Tokens(cut(ids, kept), cut(typeIds, kept), leading, trailing);
        }

        private long[] cut(long[] values, int kept) {
            long[] cut = new long[kept + trailing];
            System.arraycopy(values, 0, cut, 0, kept);
            System.arraycopy(values, values.length - trailing, cut, kept, trailing);
            return cut;
        }
    }
}

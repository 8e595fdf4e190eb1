package io.github.iree4j.spring.ai;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
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
     * The tokens of a text.
     *
     * @param ids token ids; must not be modified
     * @param typeIds segment of each token; as many as ids
     * @param leading number of special tokens at the start
     * @param trailing number of special tokens at the end
     */
    record Tokens(long[] ids, long[] typeIds, int leading, int trailing) {

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when the numbers are inconsistent
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
         * Truncates the text at the end; keeps special tokens.
         *
         * @param most maximum number of tokens
         * @return the truncated tokens; this instance if within the limit
         * @throws IreeException INVALID_ARGUMENT when special tokens leave no room for text
         */
        public Tokens cut(int most) {
            if (ids.length <= most) {
                return this;
            }
            int kept = most - trailing;
            if (kept <= leading) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "%d tokens leave no room for text next to %d special ones; raise iree.ai.embedding.max-tokens"
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

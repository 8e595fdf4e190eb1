package io.github.iree4j.spring.ai;

import io.github.iree4j.generation.sampling.TokenVocabulary;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.springframework.core.io.Resource;

/** The tokenizer of a language model in both directions. Thread-safe. */
final class ChatTokenizer implements AutoCloseable {
    private final String location;
    private final HuggingFaceTextTokenizer tokenizer;
    private final TokenBytes tokens;

    private ChatTokenizer(String location, HuggingFaceTextTokenizer tokenizer, TokenBytes tokens) {
        this.location = location;
        this.tokenizer = tokenizer;
        this.tokens = tokens;
    }

    /**
     * Reads a tokenizer.
     *
     * @param file the {@code tokenizer.json} of the model
     * @return the tokenizer, closed by the caller
     * @throws IreeException as {@link HuggingFaceTextTokenizer#load} does; INVALID_ARGUMENT for a tokenizer of another
     *     kind of models
     */
    static ChatTokenizer load(Resource file) {
        byte[] json = ModelFile.read(file, "tokenizer.json", HuggingFaceTextTokenizer.LARGEST_FILE);
        TokenBytes tokens = TokenBytes.read(json, file.getDescription());
        return new ChatTokenizer(file.getDescription(), HuggingFaceTextTokenizer.load(file), tokens);
    }

    /** Returns one more than the highest token. */
    int size() {
        return tokens.size();
    }

    /** Returns the most bytes of a text that is a token, or more. */
    int longest() {
        return tokens.longest();
    }

    /** Returns the tokens of a text that has its special tokens already. */
    int[] encode(String text) {
        return Arrays.stream(tokenizer.tokenizePlain(text))
                .mapToInt(Math::toIntExact)
                .toArray();
    }

    /** Returns the tokens of a text, with the special tokens that the tokenizer adds. */
    int[] encodeWithSpecial(String text) {
        return Arrays.stream(tokenizer.tokenize(text).ids())
                .mapToInt(Math::toIntExact)
                .toArray();
    }

    /**
     * Returns the numbers of tokens.
     *
     * @param texts the tokens, as the file writes them
     * @throws IreeException INVALID_ARGUMENT for a text that is no token
     */
    Set<Integer> tokens(List<String> texts) {
        Set<Integer> found = new LinkedHashSet<>();
        for (String text : texts) {
            Integer token = tokens.find(text);
            if (token == null) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "%s has no token '%s'; a stop token is a single token, as the file writes it"
                                .formatted(location, text));
            }
            found.add(token);
        }
        return found;
    }

    /** Returns the bytes of a token, not to be modified; none for a special token. */
    byte[] bytes(int token) {
        return tokens.of(token);
    }

    /** Returns the texts of all tokens, for constraints. */
    TokenVocabulary vocabulary() {
        return TokenVocabulary.of(
                IntStream.range(0, tokens.size()).mapToObj(tokens::of).toList());
    }

    /**
     * Returns a decoder of one text.
     *
     * @param continues whether the text continues another, so that a space at its start is part of it
     */
    Decoder decoder(boolean continues) {
        return new Decoder(tokens, !continues && tokens.stripsFirstSpace());
    }

    @Override
    public void close() {
        tokenizer.close();
    }

    /** Decodes the tokens of a text one by one. Holds back the bytes of unfinished characters. Not thread-safe. */
    static final class Decoder {
        private final TokenBytes tokens;
        private final Utf8Pieces text = new Utf8Pieces();
        private boolean isStart;
        private int length; // of the text so far, in code points
        private int start;

        private Decoder(TokenBytes tokens, boolean stripsFirstSpace) {
            this.tokens = tokens;
            this.isStart = stripsFirstSpace;
        }

        /** Adds a token, and returns the finished characters. */
        String add(int token) {
            byte[] bytes = tokens.of(token);
            if (isStart && bytes.length > 0) {
                isStart = false;
                bytes = bytes[0] == ' ' ? Arrays.copyOfRange(bytes, 1, bytes.length) : bytes;
            }
            String begin = "";
            start = length;
            if (text.isUnfinished() && bytes.length > 0) { // the first byte may end the character or begin another
                begin = text.add(Arrays.copyOf(bytes, 1));
                bytes = Arrays.copyOfRange(bytes, 1, bytes.length);
                start += size(begin) - (text.isUnfinished() ? 0 : 1);
            }
            String piece = begin + text.add(bytes);
            length += size(piece);
            return piece;
        }

        private static int size(String text) {
            return text.codePointCount(0, text.length());
        }

        /** Returns how many code points are before the character with the first byte of the token added last. */
        int start() {
            return start;
        }

        /** Ends the text, and returns U+FFFD for an unfinished character. */
        String finish() {
            return text.finish();
        }
    }
}

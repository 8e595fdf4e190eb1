package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Tokenizes texts within limits, and rejects invalid texts. Thread-safe. */
final class CheckedTokenizer {

    /*
     * A tokenizer takes time and memory for each token, 500 bytes for example, a model uses only a few hundred tokens,
     * and texts are untrusted. So a long text is tokenized by prefixes of doubling length, until there are twice as
     * many tokens as are kept: the rest of the text cannot change the kept tokens.
     */
    private static final int LEAST_PIECE = 4096;

    /** Characters of the first prefix for each kept token. Words of European languages have about 5. */
    private static final int CHARACTERS_PER_TOKEN = 32;

    private final TextTokenizer tokenizer;
    private final EncoderSettings settings;
    private final EncoderTask task;

    CheckedTokenizer(TextTokenizer tokenizer, EncoderSettings settings, EncoderTask task) {
        this.tokenizer = tokenizer;
        this.settings = settings;
        this.task = task;
    }

    /** Returns the limit of the settings, or else of the tokenizer. */
    int maxTokens() {
        return settings.maxTokens() != null
                ? settings.maxTokens()
                : tokenizer.maxTokens().orElse(EncoderSettings.USUAL_MAX_TOKENS);
    }

    /**
     * Tokenizes a text.
     *
     * @param text the text; rejected when null
     * @param index of the text in the request, from 0
     * @param count number of texts in the request
     * @param most maximum number of tokens
     * @return at least one token, cut to the limit
     * @throws IreeException INVALID_ARGUMENT when the text is rejected, naming the text and the limit
     */
    Checked text(@Nullable String text, int index, int count, int most) {
        return text(text, index, count, most, tokenizer::tokenize);
    }

    /**
     * Tokenizes a text in some way.
     *
     * @param way tokenizes the start of the text, as the first text of the tokens
     */
    Checked text(@Nullable String text, int index, int count, int most, Function<String, Tokens> way) {
        return checked(text, "text %d of %d", index, count, 0, most, way);
    }

    /**
     * Tokenizes a text with a query before it.
     *
     * @param query the {@linkplain #query start} of the query
     */
    Checked pair(String query, @Nullable String text, int index, int count, int most) {
        return checked(
                text,
                "text %d of %d, with the query,",
                index,
                count,
                1,
                most,
                piece -> tokenizer.tokenizePair(query, piece));
    }

    /**
     * Returns the start of a query, with all tokens that a pair can have of the query.
     *
     * @throws IreeException INVALID_ARGUMENT when the query has too many characters, also for the number of tokens: the
     *     start is tokenized again with each text
     */
    String query(String query, int most) {
        checkLength("the query", query);
        Start start = start(query, 0, most, tokenizer::tokenize);
        if (start.length > first(query, most)) {
            throw refused(
                    "the query",
                    "has only %d tokens in %d characters; leave out blanks, and shorten long words"
                            .formatted(start.tokens.size(), start.length));
        }
        return query.substring(0, start.length);
    }

    private Checked checked(
            @Nullable String text,
            String name,
            int index,
            int count,
            int which,
            int most,
            Function<String, Tokens> way) {
        if (text == null) {
            throw refused("text %d of %d".formatted(index + 1, count), "is null");
        }
        if (text.length() > settings.maxTextLength()) {
            checkLength("text %d of %d".formatted(index + 1, count), text);
        }
        Start start = start(text, which, most, way);
        Tokens tokens = start.tokens;
        if (tokens.size() == 0) {
            throw refused(
                    name.formatted(index + 1, count),
                    "has no tokens in %d characters; omit it".formatted(text.length()));
        }
        if (tokens.size() > most && !settings.truncate()) {
            throw refused(
                    name.formatted(index + 1, count),
                    "has %s%d tokens, but the limit is %d; split it, or set %s=true to truncate it"
                            .formatted(
                                    start.length < text.length() ? "at least " : "",
                                    tokens.size(),
                                    most,
                                    task.property("truncate")));
        }
        return new Checked(cut(tokens, most, name.formatted(index + 1, count)), tokens.size() > most);
    }

    private Tokens cut(Tokens tokens, int most, String name) {
        try {
            return tokens.cut(most);
        } catch (IreeException e) {
            throw refused(
                    name, "cannot be truncated: %s; raise %s".formatted(e.getMessage(), task.property("max-tokens")));
        }
    }

    private void checkLength(String name, String text) {
        if (text.length() > settings.maxTextLength()) {
            throw refused(
                    name,
                    "has %d characters, but the limit is %d; split it or raise %s"
                            .formatted(text.length(), settings.maxTextLength(), task.property("max-text-length")));
        }
    }

    /** Tokenizes the start of a text with twice the kept tokens, or the whole text. */
    private static Start start(String text, int which, int most, Function<String, Tokens> way) {
        int length = first(text, most);
        Tokens tokens = way.apply(text.substring(0, length));
        while (length < text.length() && tokens.size(which) < 2L * most) {
            length = piece(text, 2L * length);
            tokens = way.apply(text.substring(0, length));
        }
        return new Start(length, tokens);
    }

    private static int first(String text, int most) {
        return piece(text, Math.max(LEAST_PIECE, (long) CHARACTERS_PER_TOKEN * most));
    }

    private record Start(int length, Tokens tokens) {}

    /**
     * The tokens of a text.
     *
     * @param tokens the tokens, cut to the limit
     * @param isCut whether tokens were cut
     */
    record Checked(Tokens tokens, boolean isCut) {}

    /** Returns the wanted length, at most the length of the text, plus 1 to keep a surrogate pair whole. */
    private static int piece(String text, long wanted) {
        if (wanted >= text.length()) {
            return text.length();
        }
        return (int) wanted + (Character.isHighSurrogate(text.charAt((int) wanted - 1)) ? 1 : 0);
    }

    private static IreeException refused(String name, String why) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, name + " " + why);
    }
}

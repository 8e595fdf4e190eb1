package io.github.iree4j.spring.ai;

import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tokenizes prefix and text, and rejects invalid texts. A text without tokens is rejected, with any prefix.
 * Thread-safe.
 */
final class CheckedTokenizer {

    /*
     * A tokenizer takes time and memory for each token, 500 bytes for example, a model uses only a few hundred tokens,
     * and texts are untrusted. So a long text is tokenized by prefixes of doubling length, until there are twice as
     * many tokens as are kept: the rest of the text cannot change the kept tokens.
     */
    private static final int LEAST_PIECE = 4096;

    /** Characters of the first prefix for each kept token. Words of European languages have about 5. */
    private static final int CHARACTERS_PER_TOKEN = 32;

    private static final Logger LOGGER = LoggerFactory.getLogger(CheckedTokenizer.class);

    private final TextTokenizer tokenizer;
    private final EmbeddingSettings settings;
    /** The number of tokens of each prefix, special tokens included. */
    private final Map<TextKind, Integer> prefixSizes = new ConcurrentHashMap<>();

    private final AtomicBoolean warned = new AtomicBoolean();

    CheckedTokenizer(TextTokenizer tokenizer, EmbeddingSettings settings) {
        this.tokenizer = tokenizer;
        this.settings = settings;
    }

    /** Returns the limit of the settings, or else of the tokenizer. */
    int maxTokens() {
        return settings.maxTokens() != null
                ? settings.maxTokens()
                : tokenizer.maxTokens().orElse(EmbeddingSettings.USUAL_MAX_TOKENS);
    }

    /**
     * Checks that a prefix leaves room for text.
     *
     * @param most maximum number of tokens, prefix included
     * @throws IreeException FAILED_PRECONDITION when the prefix leaves no room
     */
    void checkPrefix(TextKind kind, int most) {
        String prefix = settings.prefixes().of(kind);
        if (!prefix.isEmpty() && prefixSize(kind, prefix) >= most) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "the prefix of iree.ai.embedding.prefix.%s has %d tokens, special ones included, which leaves no room for text within the limit of %d; shorten it or raise iree.ai.embedding.max-tokens"
                            .formatted(kind.name().toLowerCase(Locale.ROOT), prefixSize(kind, prefix), most));
        }
    }

    private int prefixSize(TextKind kind, String prefix) {
        return prefixSizes.computeIfAbsent(kind, _ -> tokenizer.tokenize(prefix).size());
    }

    /**
     * Tokenizes a text.
     *
     * @param text the text; rejected when null
     * @param index of the text in the request, from 0
     * @param count number of texts in the request
     * @param kind selects the prefix
     * @param most maximum number of tokens, prefix included
     * @return at least one token, cut to the limit
     * @throws IreeException INVALID_ARGUMENT when the text is rejected, naming the text and the limit
     */
    Checked tokenize(@Nullable String text, int index, int count, TextKind kind, int most) {
        if (text == null) {
            throw refused(index, count, "is null");
        }
        if (text.length() > settings.maxTextLength()) {
            throw refused(
                    index,
                    count,
                    "has %d characters, but the limit is %d; split it or raise iree.ai.embedding.max-text-length"
                            .formatted(text.length(), settings.maxTextLength()));
        }
        int length = piece(text, Math.max(LEAST_PIECE, (long) CHARACTERS_PER_TOKEN * most));
        Tokens tokens = withPrefix(text.substring(0, length), kind);
        while (length < text.length() && tokens.size() < 2L * most) {
            length = piece(text, 2L * length);
            tokens = withPrefix(text.substring(0, length), kind);
        }
        if (tokens.size() == 0) {
            throw refused(index, count, "has no tokens in %d characters; omit it".formatted(text.length()));
        }
        if (tokens.size() > most && !settings.truncate()) {
            throw refused(
                    index,
                    count,
                    "has %s%d tokens, but the limit is %d; split it, or set iree.ai.embedding.truncate=true to truncate it"
                            .formatted(length < text.length() ? "at least " : "", tokens.size(), most));
        }
        return new Checked(tokens.cut(most), tokens.size() > most);
    }

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

    /** Tokenizes prefix and text. The result is empty when the text alone has no tokens. */
    private Tokens withPrefix(String text, TextKind kind) {
        String prefix = settings.prefixes().of(kind);
        if (prefix.isEmpty()) {
            return tokenizer.tokenize(text);
        }
        if (text.startsWith(prefix) && warned.compareAndSet(false, true)) {
            LOGGER.warn(
                    "a text already starts with '{}', which iree.ai.embedding.prefix.{} adds again; use kind 'plain' for texts with a prefix, see iree.ai.embedding.prefix.strings",
                    prefix,
                    kind.name().toLowerCase(Locale.ROOT));
        }
        Tokens tokens = tokenizer.tokenize(prefix + text);
        boolean added = tokens.size() > prefixSize(kind, prefix);
        Tokens alone = added ? tokens : tokenizer.tokenize(text);
        return alone.size() == 0 ? alone : tokens;
    }

    private static IreeException refused(int index, int count, String why) {
        return new IreeException(StatusCode.INVALID_ARGUMENT, "text %d of %d %s".formatted(index + 1, count, why));
    }
}

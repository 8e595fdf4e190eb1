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
 * Makes tokens of prefix and text, and refuses what a model should not get. A text is judged by what it has itself: a prefix makes no
 * embedding of a text that would have no tokens without it. Safe from any thread.
 */
final class CheckedTokenizer {

    /*
     * A tokenizer takes time and memory for each token, 500 bytes for example, a model looks at a few hundred of them, and texts come from
     * anybody. So a long text is given to it piece by piece, each time twice as much from the start, until there are twice as many tokens
     * as are kept: what follows could not change those.
     */
    private static final int LEAST_PIECE = 4096;

    /** Characters of the first piece, for each token that is kept. Words of European languages have about 5. */
    private static final int CHARACTERS_PER_TOKEN = 32;

    private static final Logger LOGGER = LoggerFactory.getLogger(CheckedTokenizer.class);

    private final TextTokenizer tokenizer;
    private final EmbeddingSettings settings;
    /** How many tokens prefixes have, the special ones around them included. */
    private final Map<TextKind, Integer> prefixSizes = new ConcurrentHashMap<>();

    private final AtomicBoolean warned = new AtomicBoolean();

    CheckedTokenizer(TextTokenizer tokenizer, EmbeddingSettings settings) {
        this.tokenizer = tokenizer;
        this.settings = settings;
    }

    /** What the settings say; else what the tokenizer does. */
    int maxTokens() {
        return settings.maxTokens() != null
                ? settings.maxTokens()
                : tokenizer.maxTokens().orElse(EmbeddingSettings.USUAL_MAX_TOKENS);
    }

    /**
     * Checks that a prefix leaves room for text.
     *
     * @param most how many tokens a text may have with it
     * @throws IreeException FAILED_PRECONDITION when it does not
     */
    void checkPrefix(TextKind kind, int most) {
        String prefix = settings.prefixes().of(kind);
        if (!prefix.isEmpty() && prefixSize(kind, prefix) >= most) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "the prefix of iree.ai.embedding.prefix.%s has %d tokens, special ones included, which leaves no room for text where at most %d are taken; shorten it or raise iree.ai.embedding.max-tokens"
                            .formatted(kind.name().toLowerCase(Locale.ROOT), prefixSize(kind, prefix), most));
        }
    }

    private int prefixSize(TextKind kind, String prefix) {
        return prefixSizes.computeIfAbsent(kind, _ -> tokenizer.tokenize(prefix).size());
    }

    /**
     * Makes tokens.
     *
     * @param text refused when null
     * @param index of the text in the request, from 0
     * @param count how many texts the request has
     * @param kind says the prefix
     * @param most how many tokens the text may have with it
     * @return at least one, of which only as many as may be
     * @throws IreeException INVALID_ARGUMENT naming the text and the limit
     */
    Checked tokenize(@Nullable String text, int index, int count, TextKind kind, int most) {
        if (text == null) {
            throw refused(index, count, "is null");
        }
        if (text.length() > settings.maxTextLength()) {
            throw refused(
                    index,
                    count,
                    "has %d characters, and at most %d are taken; divide it or raise iree.ai.embedding.max-text-length"
                            .formatted(text.length(), settings.maxTextLength()));
        }
        int length = piece(text, Math.max(LEAST_PIECE, (long) CHARACTERS_PER_TOKEN * most));
        Tokens tokens = withPrefix(text.substring(0, length), kind);
        while (length < text.length() && tokens.size() < 2L * most) {
            length = piece(text, 2L * length);
            tokens = withPrefix(text.substring(0, length), kind);
        }
        if (tokens.size() == 0) {
            throw refused(index, count, "has no tokens, of %d characters; leave it out".formatted(text.length()));
        }
        if (tokens.size() > most && !settings.truncate()) {
            throw refused(
                    index,
                    count,
                    "has %s%d tokens, and at most %d are taken; divide it, or set iree.ai.embedding.truncate=true to have it cut"
                            .formatted(length < text.length() ? "at least " : "", tokens.size(), most));
        }
        return new Checked(tokens.cut(most), tokens.size() > most);
    }

    /**
     * The tokens of a text.
     *
     * @param tokens as many as a text may have
     * @param isCut whether there were more
     */
    record Checked(Tokens tokens, boolean isCut) {}

    /** So many characters, or one more where a character has two halves. */
    private static int piece(String text, long wanted) {
        if (wanted >= text.length()) {
            return text.length();
        }
        return (int) wanted + (Character.isHighSurrogate(text.charAt((int) wanted - 1)) ? 1 : 0);
    }

    /** None when the text alone has none. */
    private Tokens withPrefix(String text, TextKind kind) {
        String prefix = settings.prefixes().of(kind);
        if (prefix.isEmpty()) {
            return tokenizer.tokenize(text);
        }
        if (text.startsWith(prefix) && warned.compareAndSet(false, true)) {
            LOGGER.warn(
                    "a text begins with '{}', which iree.ai.embedding.prefix.{} puts before it once more; texts that have a prefix already are of kind 'plain', see iree.ai.embedding.prefix.strings",
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

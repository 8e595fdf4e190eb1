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
        Tokens tokens = withPrefix(text, kind);
        if (tokens.size() == 0) {
            throw refused(index, count, "has no tokens, of %d characters; leave it out".formatted(text.length()));
        }
        if (tokens.size() > most && !settings.truncate()) {
            throw refused(
                    index,
                    count,
                    "has %d tokens, and at most %d are taken; divide it, or set iree.ai.embedding.truncate=true to have it cut"
                            .formatted(tokens.size(), most));
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

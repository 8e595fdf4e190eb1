package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.spring.ai.TextTokenizer;
import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tokenizes the prefix of a kind and a text. Thread-safe. */
final class PrefixedTokenizer {

    private static final Logger LOGGER = LoggerFactory.getLogger(PrefixedTokenizer.class);

    private final TextTokenizer tokenizer;
    private final TextPrefixes prefixes;
    /** The number of tokens of each prefix, special tokens included. */
    private final Map<TextKind, Integer> sizes = new ConcurrentHashMap<>();

    private final AtomicBoolean warned = new AtomicBoolean();

    PrefixedTokenizer(TextTokenizer tokenizer, TextPrefixes prefixes) {
        this.tokenizer = tokenizer;
        this.prefixes = prefixes;
    }

    /**
     * Checks that a prefix leaves room for text.
     *
     * @param most maximum number of tokens, prefix included
     * @throws IreeException FAILED_PRECONDITION when the prefix leaves no room
     */
    void check(TextKind kind, int most) {
        String prefix = prefixes.of(kind);
        if (!prefix.isEmpty() && size(kind, prefix) >= most) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "the prefix of iree.ai.embedding.prefix.%s has %d tokens, special ones included, which leaves no room for text within the limit of %d; shorten it or raise iree.ai.embedding.max-tokens"
                            .formatted(kind.name().toLowerCase(Locale.ROOT), size(kind, prefix), most));
        }
    }

    private int size(TextKind kind, String prefix) {
        return sizes.computeIfAbsent(kind, _ -> tokenizer.tokenize(prefix).size());
    }

    /** Returns the tokens of prefix and text; none when the text alone has none. */
    Tokens tokenize(String text, TextKind kind) {
        String prefix = prefixes.of(kind);
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
        boolean added = tokens.size() > size(kind, prefix);
        Tokens alone = added ? tokens : tokenizer.tokenize(text);
        return alone.size() == 0 ? alone : tokens;
    }
}

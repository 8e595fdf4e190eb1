package io.github.iree4j.spring.ai.encoder;

/**
 * Prefixes of texts, added once before tokenization, whatever the texts start with: different texts have different
 * tokens.
 *
 * @param query prefix of queries; empty for none
 * @param document prefix of documents; empty for none
 * @param strings the kind of strings, unless set by the request; documents are always of kind document
 */
public record TextPrefixes(String query, String document, TextKind strings) {

    /** No prefixes. */
    public static final TextPrefixes NONE = new TextPrefixes("", "", TextKind.QUERY);

    /** Returns the prefix of a kind. */
    String of(TextKind kind) {
        return switch (kind) {
            case QUERY -> query;
            case DOCUMENT -> document;
            case PLAIN -> "";
        };
    }
}

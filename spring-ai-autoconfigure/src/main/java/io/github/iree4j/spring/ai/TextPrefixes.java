package io.github.iree4j.spring.ai;

/**
 * What is put before texts before they become tokens, just once and whatever they begin with: two texts that differ have tokens that differ.
 *
 * @param query before queries; empty for nothing
 * @param document before documents; empty for nothing
 * @param strings what texts are that come as strings, where the request does not say it; what comes as a document is one
 */
public record TextPrefixes(String query, String document, TextKind strings) {

    /** Texts as they are. */
    public static final TextPrefixes NONE = new TextPrefixes("", "", TextKind.QUERY);

    /** What is put before a text of a kind. */
    String of(TextKind kind) {
        return switch (kind) {
            case QUERY -> query;
            case DOCUMENT -> document;
            case PLAIN -> "";
        };
    }
}

package io.github.iree4j.spring.ai.encoder;

/** The role of a text. Models trained for retrieval expect different prefixes for queries and documents. */
public enum TextKind {
    /** A search query. */
    QUERY,
    /** A document to find. */
    DOCUMENT,
    /** Neither, or a text already with a prefix: no prefix is added. */
    PLAIN
}

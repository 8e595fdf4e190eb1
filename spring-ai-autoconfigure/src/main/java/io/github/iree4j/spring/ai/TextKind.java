package io.github.iree4j.spring.ai;

/** What a text is for. Models that were trained to find documents by questions want each of them to begin with words of its own. */
public enum TextKind {
    /** What is searched for. */
    QUERY,
    /** What is found. */
    DOCUMENT,
    /** Neither, or a text that has its prefix already: nothing is put before it. */
    PLAIN
}

package io.github.iree4j.spring.ai;

/** How the vectors of a text's tokens become the vector of the text. */
public enum Pooling {
    /** Their mean, special tokens included and padding not. */
    MEAN,
    /** That of the first token. */
    CLS,
    /** That of the last token which is no padding. */
    LAST,
    /** The program returns one vector for each text. */
    NONE
}

package io.github.iree4j.spring.ai.encoder;

/** How token vectors are combined into the vector of a text. */
public enum Pooling {
    /** The mean, including special tokens but not padding. */
    MEAN,
    /** The vector of the first token. */
    CLS,
    /** The vector of the last token before padding. */
    LAST,
    /** The program returns a vector for each text. */
    NONE;

    /** Returns the default for the rank of a result. */
    static Pooling usual(int rank) {
        return rank == 2 ? NONE : MEAN;
    }

    /** The rank of the result. */
    int rank() {
        return this == NONE ? 2 : 3;
    }

    /** Human-readable description of the required result. */
    String wanted() {
        return this == NONE
                ? "a vector for each text, such as tensor<?x384xf32>"
                : "a vector for each token of each text, such as tensor<?x?x384xf32>";
    }
}

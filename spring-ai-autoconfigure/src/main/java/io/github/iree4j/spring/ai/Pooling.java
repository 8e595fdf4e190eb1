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
    NONE;

    /** The one for a result that has so many dimensions. */
    static Pooling usual(int rank) {
        return rank == 2 ? NONE : MEAN;
    }

    /** How many dimensions the result has. */
    int rank() {
        return this == NONE ? 2 : 3;
    }

    /** What the result has to be, for people. */
    String wanted() {
        return this == NONE
                ? "a vector for each text, tensor<?x384xf32> for example"
                : "one for each token of each text, tensor<?x?x384xf32> for example";
    }
}

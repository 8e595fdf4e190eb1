package io.github.iree4j.flight;

/** Takes the words of a record, in order. */
interface WordTarget {
    void put(long word);
}

package io.github.iree4j.generation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The inputs of a call of a program: a row for each sequence, and rows of padding. A row of padding has a token 0
 * at position 0, and writes to page 0 only.
 */
final class Step {
    private final Entry entry;
    private final int tokensPerRow;
    private final int columns;
    private final List<Sequence> sequences = new ArrayList<>();
    private final long[] tokens;
    private final long[] starts;
    private final long[] lengths;
    private final long[] pages;
    private final int[] counts;
    private final int[] repeated;
    private final int[] proposed;
    private int proposing;
    private int steps = 1;
    private long readNanos;
    private long draftNanos;

    /**
     * Creates a step of padding only.
     *
     * @param entry the function
     * @param tokensPerRow tokens of each row, padding included; 1 for a decode
     * @param columns pages of each row, padding included
     */
    Step(Entry entry, int tokensPerRow, int columns) {
        this.entry = entry;
        this.tokensPerRow = tokensPerRow;
        this.columns = columns;
        this.tokens = new long[entry.batch() * tokensPerRow];
        this.starts = new long[entry.batch()];
        this.lengths = new long[entry.batch()];
        this.pages = new long[entry.batch() * columns]; // PagePool.SCRATCH
        this.counts = new int[entry.batch()];
        this.repeated = new int[entry.batch()];
        this.proposed = new int[entry.batch()];
        Arrays.fill(lengths, 1);
    }

    Entry entry() {
        return entry;
    }

    /** Returns the sequences, in the order of rows from row 0. */
    List<Sequence> sequences() {
        return sequences;
    }

    /** Returns the tokens of all rows, for the function's argument. */
    long[] tokens() {
        return tokens;
    }

    /** Returns the position of the first token of each row. */
    long[] starts() {
        return starts;
    }

    /** Returns the length of each row's sequence after the step. */
    long[] lengths() {
        return lengths;
    }

    /** Returns the pages of all rows. */
    long[] pages() {
        return pages;
    }

    int tokensPerRow() {
        return tokensPerRow;
    }

    int columns() {
        return columns;
    }

    /** Returns the number of tokens that the step reads of a row's sequence. */
    int count(int row) {
        return counts[row];
    }

    /** Adds the next tokens of a sequence, whose pages are known, as the next row. */
    void add(Sequence sequence, int count) {
        add(sequence, sequence.computed(), count);
    }

    /**
     * Adds the last token of a sequence and proposed tokens, whose pages are known, as the next row. The row begins with
     * the page of the last token, so tokens before are computed again, with the same bits.
     *
     * @param from position of the first token of the page
     * @param proposals number of tokens to verify, behind the sequence's last token
     */
    void addProposed(Sequence sequence, int from, int proposals) {
        int row = sequences.size();
        repeated[row] = sequence.computed() - from;
        proposed[row] = proposals;
        proposing += proposals > 0 ? 1 : 0;
        add(sequence, from, repeated[row] + 1 + proposals);
    }

    /** Adds tokens of a sequence, whose pages are known, as the next row. */
    void add(Sequence sequence, int from, int count) {
        int row = sequences.size();
        set(row, sequence.tokens(), from, count);
        for (int i = 0; i < Math.min(sequence.pageCount(), columns); i++) {
            setPage(row, i, sequence.page(i));
        }
        sequences.add(sequence);
    }

    /** Sets the tokens of a row. */
    void set(int row, int[] source, int from, int count) {
        for (int i = 0; i < count; i++) {
            tokens[row * tokensPerRow + i] = source[from + i];
        }
        starts[row] = from;
        lengths[row] = (long) from + count;
        counts[row] = count;
    }

    /** Sets the page of a row's column. */
    void setPage(int row, int column, int page) {
        pages[row * columns + column] = page;
    }

    /** Returns the page of a row's column. */
    int page(int row, int column) {
        return (int) pages[row * columns + column];
    }

    /** Returns the number of tokens of a row that are known and were not computed before. */
    int added(int row) {
        return counts[row] - repeated[row] - proposed[row];
    }

    /** Returns the index of the first token of a row whose logits may be read: the last token, or the last before proposals. */
    int firstChoice(int row) {
        return counts[row] - 1 - proposed[row];
    }

    /** Returns the number of proposed tokens at the end of a row. */
    int proposed(int row) {
        return proposed[row];
    }

    /** Returns the number of decode steps, this step included, to submit before this step ends. */
    int steps() {
        return steps;
    }

    /** Sets the number of decode steps to submit at once. The pages of each row suffice for all. */
    void submitAhead(int count) {
        steps = count;
    }

    /** Returns the step of the next token of each row, which this decode step computes. */
    Step next() {
        Step next = new Step(entry, 1, columns);
        next.sequences.addAll(sequences);
        System.arraycopy(pages, 0, next.pages, 0, pages.length);
        for (int row = 0; row < sequences.size(); row++) {
            next.starts[row] = starts[row] + 1;
            next.lengths[row] = lengths[row] + 1;
            next.counts[row] = 1;
        }
        return next;
    }

    /** Returns the number of rows with proposed tokens. */
    int proposing() {
        return proposing;
    }

    /** Sets how long a draft read tokens, and proposed tokens, before the step, in nanoseconds. */
    void drafted(long read, long proposed) {
        readNanos = read;
        draftNanos = proposed;
    }

    /** Returns how long a draft read tokens before the step, in nanoseconds. */
    long readNanos() {
        return readNanos;
    }

    /** Returns how long a draft proposed tokens before the step, in nanoseconds. */
    long draftNanos() {
        return draftNanos;
    }

    @Override
    public String toString() {
        return "%s of %d sequences, %d tokens, %d columns".formatted(entry, sequences.size(), tokensPerRow, columns);
    }
}

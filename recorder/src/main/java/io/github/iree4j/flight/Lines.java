package io.github.iree4j.flight;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A text of a limited number of lines, the most important first; further lines are counted. A part of the text takes a
 * quarter of the lines at most, and leaves room for the parts behind. Confined to one thread.
 */
final class Lines {
    private static final int LEAST = 4; // of a part

    private final int most;
    private final int ofParts;
    private final List<String> kept = new ArrayList<>();
    private int end; // of the present part
    private long left;

    /**
     * Creates a text.
     *
     * @param most the most lines; the number of further lines is one more line
     */
    Lines(int most) {
        this(most, most);
    }

    /**
     * Creates a text with an appendix.
     *
     * @param ofParts the most lines of the parts before
     */
    Lines(int most, int ofParts) {
        this.most = Math.max(0, most);
        this.ofParts = Math.max(0, ofParts);
        this.end = this.ofParts;
    }

    /** Begins a part. */
    void part(String heading) {
        end = (int) Math.min(ofParts, kept.size() + (long) Math.max(LEAST, ofParts / 4));
        add(heading);
    }

    /** Begins the appendix, which may take all lines left. */
    void appendix(String heading) {
        end = most;
        add(heading);
    }

    void add(String line) {
        add(() -> line);
    }

    /** Adds a line; does not make a line without room. */
    void add(Supplier<String> line) {
        if (kept.size() < end) {
            kept.add(line.get());
        } else {
            left++;
        }
    }

    /** Adds indented lines to the present part. */
    void indented(List<String> lines) {
        lines.forEach(line -> add(() -> "  " + line));
    }

    /** Returns the number of lines left for the present part. */
    int room() {
        return end - kept.size();
    }

    /** Returns the lines, and the number of the others. */
    List<String> all() {
        List<String> all = new ArrayList<>(kept);
        if (left > 0) {
            all.add(left == 1 ? "(1 more line)" : "(%d more lines)".formatted(left));
        }
        return all;
    }
}

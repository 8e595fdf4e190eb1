package io.github.iree4j.generation;

import io.github.iree4j.generation.PrefixTree.Node;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Foresees whether the pages suffice when a waiting sequence begins. Not thread-safe.
 *
 * <p>All sequences are expected to gain a token in each step, until their answers are as long as answers were of late. They
 * take pages as they grow, and give their pages back when they end. A sequence may begin if there are enough pages all the
 * time. Where an expectation is wrong, {@link StepPlanner} preempts a sequence: every sequence ends all the same.
 */
class Admission { // not final for tests of preemption
    private static final int ANSWERS = 64;

    private final Recent answers = new Recent(ANSWERS, false); // lengths, as parts of the most tokens asked for

    /** Records that a sequence has ended, for whatever reason. */
    void ended(Sequence sequence) {
        int generated = sequence.length() - sequence.promptLength();
        if (generated > 0) {
            answers.add((double) generated / sequence.generation().request().maximumTokens());
        }
    }

    /**
     * What is expected of a sequence.
     *
     * @param tokens known tokens
     * @param pages pages that the sequence has
     * @param steps steps until the end
     * @param freed pages of today that are free after the end
     */
    private record Growth(int tokens, int pages, int steps, int freed) {}

    /**
     * Returns whether the pages are expected to suffice.
     *
     * @param running the sequences with pages, at least one
     * @param next the sequence to begin
     * @param known kept pages with the first tokens of the sequence, not among the available pages
     * @param available the pages that no sequence uses
     */
    boolean suffices(StepShapes shapes, Collection<Sequence> running, Sequence next, List<Node> known, int available) {
        List<Growth> all = new ArrayList<>();
        for (Sequence each : running) {
            int freed = each.pageCount() - each.shared().size() + PrefixTree.freed(each.shared(), known);
            all.add(new Growth(each.length(), each.pageCount(), remaining(shapes, each), freed));
        }
        all.add(new Growth(next.length(), known.size(), remaining(shapes, next), 0));
        for (Growth end : all) {
            int missing = 0; // when the sequence ends
            for (Growth each : all) {
                missing += each.steps >= end.steps
                        ? Math.max(0, shapes.pagesFor(each.tokens + end.steps) - each.pages)
                        : -each.freed;
            }
            if (missing > available) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns how many tokens a sequence is expected to gain: the mean of the latest answers that were longer than the answer
     * so far, as parts of the most tokens asked for. While no answer has ended, the tokens of a page.
     */
    private int remaining(StepShapes shapes, Sequence sequence) {
        int left = sequence.mostTokens() - sequence.length();
        if (answers.isEmpty()) {
            return Math.min(left, shapes.stride());
        }
        int most = sequence.generation().request().maximumTokens();
        int generated = sequence.length() - sequence.promptLength();
        OptionalDouble part = answers.meanAbove((double) generated / most);
        return part.isEmpty() ? left : Math.min(left, (int) Math.ceil(part.getAsDouble() * most) - generated);
    }
}

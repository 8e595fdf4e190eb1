package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import java.util.ArrayList;
import java.util.List;

/** Whether free blocks may be given to one requester, and after which waits. One thread at a time; used for one request after another. */
final class Match implements Reuse {
    /** How a block may be used. */
    enum Verdict {
        FRESH,
        COVERED,
        AFTER_WAIT,
        TAINTED,
        UNCOVERED
    }

    private final DeathFrontiers deaths;
    private Frontier requester = Frontier.EMPTY;
    private NativeTimepoints timepoints = NativeTimepoints.NONE;
    private List<NativeTimepoint> waits = List.of();
    private Verdict verdict = Verdict.FRESH;
    boolean tainted; // some block was refused for that
    boolean uncovered;

    Match(DeathFrontiers deaths) {
        this.deaths = deaths;
    }

    void begin(ReservationRequest request) {
        requester = request.frontier();
        timepoints = request.timepoints();
        forget();
    }

    /** Whether some block that would fit was refused. */
    boolean wasRefused() {
        return tainted || uncovered;
    }

    /** Nobody looks for anything. */
    void forget() {
        tainted = false;
        uncovered = false;
    }

    /** Of the block that was accepted last. */
    Verdict verdict() {
        return verdict;
    }

    /** What the requester must wait for before it uses that block. */
    List<NativeTimepoint> waits() {
        return waits;
    }

    @Override
    public boolean accepts(Block block) {
        Frontier death = block.death;
        waits = List.of();
        if (death == null) {
            verdict = Verdict.FRESH;
            return true;
        }
        verdict = judge(death);
        switch (verdict) {
            case TAINTED -> tainted = true;
            case UNCOVERED -> uncovered = true;
            default -> {
                return true;
            }
        }
        return false;
    }

    private Verdict judge(Frontier death) {
        if (requester.covers(death, deaths.completed()) || deaths.isCompleted(death)) {
            return Verdict.COVERED;
        }
        if (deaths.isTainted(death)) {
            return Verdict.TAINTED;
        }
        // Try before you fence. What has a producer is over once that is: one mark at most. Else one for each entry
        // that is missing.
        Frontier missing = death.hasProducer()
                ? Frontier.of(death.producerAxis(), death.producerEpoch())
                : requester.uncovered(death, deaths.completed());
        List<NativeTimepoint> marks = new ArrayList<>(missing.size());
        for (int i = 0; i < missing.size(); i++) {
            NativeTimepoint mark = timepoints.atOrAbove(missing.axis(i), missing.epoch(i));
            if (mark == null) {
                return death.isTainted() ? Verdict.TAINTED : Verdict.UNCOVERED;
            }
            marks.add(mark);
        }
        if (marks.isEmpty()) {
            return Verdict.COVERED; // its taint is over
        }
        waits = minimal(marks, missing);
        return Verdict.AFTER_WAIT;
    }

    /** Drops the marks that others imply. */
    private static List<NativeTimepoint> minimal(List<NativeTimepoint> marks, Frontier missing) {
        for (int i = 0; i < marks.size(); i++) {
            for (int j = 0; j < marks.size(); j++) {
                // Of two that imply each other one must stay: what is dropped is gone from the list that is looked at.
                if (i != j && marks.get(j).frontier().reaches(missing.axis(i), missing.epoch(i))) {
                    List<NativeTimepoint> rest = new ArrayList<>(marks);
                    rest.remove(i);
                    return minimal(rest, without(missing, i));
                }
            }
        }
        return List.copyOf(marks);
    }

    private static Frontier without(Frontier frontier, int dropped) {
        Frontier rest = Frontier.EMPTY;
        for (int i = 0; i < frontier.size(); i++) {
            if (i != dropped) {
                rest = rest.merge(Frontier.of(frontier.axis(i), frontier.epoch(i)), Frontier.MAXIMUM_CAPACITY);
            }
        }
        return rest;
    }
}

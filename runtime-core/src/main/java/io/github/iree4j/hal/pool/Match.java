package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** Decides whether free blocks may be given to a requester, and determines the waits. Reused for one request after another; one thread at a time. */
final class Match implements Reuse {
    /** The usability of a block. */
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
    boolean tainted; // a block was refused because of its taint
    boolean uncovered;

    Match(DeathFrontiers deaths) {
        this.deaths = deaths;
    }

    void begin(ReservationRequest request) {
        begin(request.frontier(), request.timepoints());
    }

    void begin(Frontier after, NativeTimepoints waitable) {
        requester = after;
        timepoints = waitable;
        forget();
    }

    /** Whether a fitting block was refused. */
    boolean wasRefused() {
        return tainted || uncovered;
    }

    /** Forgets earlier refusals. */
    void forget() {
        tainted = false;
        uncovered = false;
    }

    /** The verdict on the block accepted last. */
    Verdict verdict() {
        return verdict;
    }

    /** The waits of the requester before using the block accepted last. */
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
        // Try before you fence. A frontier with a producer has ended once its producer has: one mark at most. Otherwise
        // one mark for each missing entry.
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
            return Verdict.COVERED; // the taint has been settled
        }
        waits = minimal(marks, missing);
        return Verdict.AFTER_WAIT;
    }

    /** Drops marks implied by other marks: each missing entry, whether its mark was dropped or not, precedes a kept mark. */
    private static List<NativeTimepoint> minimal(List<NativeTimepoint> marks, Frontier missing) {
        int count = marks.size();
        if (count == 1) {
            return List.copyOf(marks);
        }
        BitSet[] implied = new BitSet[count]; // by mark, the missing entries preceding the mark
        for (int i = 0; i < count; i++) {
            implied[i] = new BitSet(count);
            follow(i, marks, missing, implied[i], new BitSet(count));
        }
        BitSet kept = new BitSet(count);
        kept.set(0, count);
        for (int i = 0; i < count; i++) {
            kept.clear(i);
            BitSet known = new BitSet(count);
            kept.stream().forEach(each -> known.or(implied[each]));
            if (known.cardinality() < count) {
                kept.set(i);
            }
        }
        return kept.stream().mapToObj(marks::get).toList();
    }

    /** Adds the missing entries preceding a mark, directly or through preceding marks. */
    private static void follow(
            int index, List<NativeTimepoint> marks, Frontier missing, BitSet implied, BitSet followed) {
        followed.set(index);
        implied.set(index);
        Frontier frontier = marks.get(index).frontier();
        for (int i = 0; i < marks.size(); i++) {
            // Entries possibly lost by a mark count as not implied: at worst a wait too many is kept.
            if (frontier.reaches(missing.axis(i), missing.epoch(i)) == Known.YES) {
                implied.set(i);
            }
            // Reaching the missing entry of another axis implies nothing about predecessors of a later mark on the
            // other axis.
            if (!followed.get(i)
                    && frontier.reaches(missing.axis(i), marks.get(i).epoch()) == Known.YES) {
                follow(i, marks, missing, implied, followed);
            }
        }
    }
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.schedule.Issue;
import io.github.iree4j.status.IreeException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The entries of a stream by epoch, and the outcomes of entries until the signals. Guarded by the lock of the hardware queue. */
final class StreamEpochs {
    private final TreeMap<Long, StreamEntry> entries = new TreeMap<>(); // not yet complete
    private final TreeMap<Long, Outcome> failed = new TreeMap<>(); // complete; the signals may still have to fail
    private long over; // everything up to this epoch is complete

    /** SCHED-8: returns the outcome of an issued operation, which fails with its predecessors. Takes the locks of the queues of the predecessors. */
    static Outcome outcome(Issue next) {
        Outcome outcome = new Outcome();
        for (Issue.Wait each : next.predecessors()) {
            if (each.producer() instanceof HardwareStream other) {
                synchronized (other.queue()) {
                    other.epochs.precede(each.epoch(), outcome);
                }
            }
        }
        IreeException known = next.operation().failedWait(); // last: outcomes are dropped after the signals
        if (known != null) {
            outcome.fail(known);
        }
        return outcome;
    }

    void add(StreamEntry entry) {
        entries.put(entry.epoch, entry);
    }

    boolean isOver(long epoch) {
        return epoch <= over;
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Returns the entry of an epoch or of the next epoch; null for none. */
    @Nullable
    StreamEntry from(long epoch) {
        Map.Entry<Long, StreamEntry> entry = entries.ceilingEntry(epoch);
        return entry == null ? null : entry.getValue();
    }

    /** Has an outcome follow the operation of an epoch. */
    void precede(long epoch, Outcome later) {
        StreamEntry entry = entries.get(epoch);
        Outcome earlier = entry == null ? failed.get(epoch) : entry.outcome;
        if (earlier != null) {
            earlier.precede(later);
        }
    }

    /**
     * Records the completion of an entry and everything before.
     *
     * @param signalled the epoch up to which failed operations have failed their signals, and so need no outcome
     */
    void passed(StreamEntry last, long signalled) {
        over = last.epoch;
        failed.headMap(signalled, true).clear();
        Map<Long, StreamEntry> complete = entries.headMap(over, true);
        for (StreamEntry each : complete.values()) {
            each.outcome.end();
            if (each.outcome.failure() != null) {
                failed.put(each.epoch, each.outcome);
            }
        }
        complete.clear();
    }
}

package io.github.iree4j.flight;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import java.util.List;
import java.util.StringJoiner;

/**
 * A recorded frontier.
 *
 * @param entries by axis, ascending
 * @param producer the axis of the producing operation; 0 for none
 * @param tainted whether the frontier had lost entries
 */
public record RecordedFrontier(List<Entry> entries, long producer, boolean tainted) {
    /** The frontier without entries. */
    public static final RecordedFrontier EMPTY = new RecordedFrontier(List.of(), 0, false);

    /**
     * An entry: everything on the axis up to the epoch.
     *
     * @param axis the axis
     * @param epoch the epoch, above 0
     */
    public record Entry(long axis, long epoch) {
        @Override
        public String toString() {
            return Axis.toString(axis) + ":" + epoch;
        }
    }

    /** Copies. */
    public RecordedFrontier {
        entries = List.copyOf(entries);
    }

    /**
     * Returns the recorded form of a frontier.
     *
     * @param frontier the frontier
     * @return the same entries
     */
    public static RecordedFrontier of(Frontier frontier) {
        Entry[] entries = new Entry[frontier.size()];
        for (int i = 0; i < entries.length; i++) {
            entries[i] = new Entry(frontier.axis(i), frontier.epoch(i));
        }
        return new RecordedFrontier(
                List.of(entries), frontier.hasProducer() ? frontier.producerAxis() : 0, frontier.isTainted());
    }

    /**
     * Returns the epoch of an axis.
     *
     * @param axis the axis
     * @return its epoch; 0 without an entry
     */
    public long epochOf(long axis) {
        for (Entry each : entries) {
            if (each.axis == axis) {
                return each.epoch;
            }
        }
        return 0;
    }

    /**
     * Returns the epoch of the producing operation.
     *
     * @return the epoch; 0 without a producer
     */
    public long producerEpoch() {
        return producer == 0 ? 0 : epochOf(producer);
    }

    @Override
    public String toString() {
        StringJoiner all = new StringJoiner(", ", tainted ? "tainted {" : "{", "}");
        entries.forEach(each -> all.add(each.toString()));
        return all.toString();
    }
}

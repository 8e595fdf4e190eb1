package io.github.iree4j.flight;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a set of pools held by a consumer when a recording was taken. Records and bytes are of the same moment:
 * a set is listed, and records are made, under the lock of the set, and a listing has the number of the next record.
 *
 * @param consumer the name; empty for no program
 * @param recorded the bytes of reservations in the recording
 * @param blocks number of these reservations
 * @param since the time of the earliest of these reservations
 * @param unrecorded more bytes held, see {@link #unrecordedSince}
 */
record HeldMemory(String consumer, long recorded, int blocks, long since, long unrecorded) {
    /**
     * Returns the memory of each consumer that holds any, the most first; releases without a record are not deducted.
     */
    static List<HeldMemory> of(OperationGraph graph, int set) {
        Map<String, HeldMemory> held = new HashMap<>();
        recorded(graph, set)
                .forEach(each -> held.merge(
                        each.consumer(),
                        new HeldMemory(each.consumer(), each.length(), 1, each.time(), 0),
                        HeldMemory::and));
        FlightEvent.PoolsHold taken = graph.memory().taken(set);
        if (taken != null) {
            Map<String, Long> bytes = new HashMap<>(); // consumers beyond the limit of names share a name
            taken.consumers().forEach(each -> bytes.merge(each.consumer(), each.bytes(), Long::sum));
            bytes.forEach((name, all) -> held.compute(name, (_, known) -> completed(known, name, all)));
        }
        return held.values().stream()
                .filter(each -> each.bytes() > 0)
                .sorted(Comparator.comparingLong(HeldMemory::bytes).reversed())
                .toList();
    }

    /** Returns the held reservations of a set, as far as recorded. */
    private static Stream<FlightEvent.Reserved> recorded(OperationGraph graph, int set) {
        long before = graph.memory().takenBefore(set);
        return graph.memory().reservations().stream()
                .filter(each -> graph.isCompleteFrom(each)
                        && each.sequence() < before
                        && !graph.memory().isReleased(each, before)
                        && graph.memory().set(each.pool()) == set);
    }

    /**
     * Returns the bytes of each pool of a set, by index, reserved before the records and still held; none where the age
     * is not known.
     */
    static Map<Integer, Long> before(OperationGraph graph, int set) {
        FlightEvent.PoolsHold taken = graph.memory().taken(set);
        if (taken == null || taken.before() == FlightEvent.PoolsHold.UNKNOWN || isAgeUnknown(graph, set)) {
            return Map.of();
        }
        Map<Integer, Long> bytes = new HashMap<>();
        taken.pools().forEach(each -> bytes.merge(each.pool(), each.bytes(), Long::sum));
        recorded(graph, set).forEach(each -> bytes.merge(each.pool(), -each.length(), Long::sum));
        bytes.values().removeIf(each -> each <= 0);
        return bytes;
    }

    /** Whether the set has pools beyond the limit, or later records are missing: some of the unrecorded memory may have been reserved later. */
    static boolean isAgeUnknown(OperationGraph graph, int set) {
        FlightEvent.PoolsHold taken = graph.memory().taken(set);
        return graph.mayLackLater()
                || taken != null
                        && taken.pools().stream()
                                .anyMatch(each -> graph.memory().set(each.pool()) != set);
    }

    /**
     * Returns a bound on the bytes of a set reserved before the records and still held; the largest number if not
     * known.
     */
    static long earlierAtMost(OperationGraph graph, int set) {
        FlightEvent.PoolsHold opened = graph.memory().opened(set);
        return opened == null || !graph.isCompleteFrom(opened)
                ? Long.MAX_VALUE
                : Math.max(0, opened.bytes() - graph.memory().releasedUnseen(set));
    }

    /**
     * Says when the unrecorded memory of a set was reserved: before the records, as no record is missing from there to the
     * moment of the bytes. In version 6 this moment is not known, perhaps after the last record, while the recording was
     * taken.
     */
    static String unrecordedSince(OperationGraph graph, int set) {
        if (isAgeUnknown(graph, set)) {
            return "of unknown age";
        }
        if (graph.memory().takenBefore(set) != FlightEvent.PoolsHold.UNKNOWN) {
            return "reserved before the records begin";
        }
        long most = earlierAtMost(graph, set);
        if (most == 0) {
            return "reserved while the recording was taken";
        }
        long all = of(graph, set).stream().mapToLong(HeldMemory::unrecorded).sum();
        return "reserved before the records begin"
                + (most == Long.MAX_VALUE || all > most ? " or while the recording was taken" : "");
    }

    private static HeldMemory completed(@Nullable HeldMemory known, String consumer, long taken) {
        HeldMemory recorded = known == null ? new HeldMemory(consumer, 0, 0, 0, 0) : known;
        // in version 6 less where some was released between the last record and the listing
        long more = Math.max(0, taken - recorded.recorded);
        return new HeldMemory(consumer, recorded.recorded, recorded.blocks, recorded.since, more);
    }

    private HeldMemory and(HeldMemory other) {
        return new HeldMemory(
                consumer, recorded + other.recorded, blocks + other.blocks, Math.min(since, other.since), unrecorded);
    }

    long bytes() {
        return recorded + unrecorded;
    }
}

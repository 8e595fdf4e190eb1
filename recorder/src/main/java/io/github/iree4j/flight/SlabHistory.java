package io.github.iree4j.flight;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The last release of each byte of a slab not reserved since, while the slab's history is read. */
final class SlabHistory {
    private record Freed(FlightEvent.Released release, long end) {}

    private final TreeMap<Long, Freed> byOffset = new TreeMap<>(); // of disjoint ranges

    /** Returns the last release of any of the reserved bytes, and forgets these bytes. */
    FlightEvent.@Nullable Released reserved(FlightEvent.Reserved memory) {
        return forget(memory.offset(), memory.offset() + Math.max(1, memory.length()));
    }

    void released(FlightEvent.Reserved memory, FlightEvent.Released release) {
        long end = memory.offset() + memory.length();
        if (end > memory.offset()) {
            forget(memory.offset(), end);
            byOffset.put(memory.offset(), new Freed(release, end));
        }
    }

    private FlightEvent.@Nullable Released forget(long from, long end) {
        FlightEvent.Released last = null;
        Map.Entry<Long, Freed> next = byOffset.floorEntry(from);
        if (next == null || next.getValue().end <= from) {
            next = byOffset.higherEntry(from);
        }
        while (next != null && next.getKey() < end) {
            long start = next.getKey();
            Freed freed = next.getValue();
            byOffset.remove(start);
            if (start < from) {
                byOffset.put(start, new Freed(freed.release, from));
            }
            if (freed.end > end) {
                byOffset.put(end, freed);
            }
            last = last == null || freed.release.sequence() > last.sequence() ? freed.release : last;
            next = byOffset.higherEntry(start);
        }
        return last;
    }
}

package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.spring.actuate.endpoint.PeaksDescriptor.OfMemory;
import io.github.iree4j.spring.actuate.endpoint.PeaksDescriptor.OfQueue;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The largest values of gauges between responses, for any number of readers: each response ends an interval, and a
 * reader gets the intervals behind the reader's cursor. Nothing is kept of readers. Thread-safe.
 */
final class Peaks {

    /** The number of intervals kept. */
    static final int KEPT = 256;

    /** The values of an interval. */
    record Values(int calls, int busyWorkers, Map<String, OfQueue> queues, Map<String, OfMemory> memory) {
        private Values or(Values other) {
            Map<String, OfQueue> allQueues = new LinkedHashMap<>(queues);
            other.queues.forEach((name, each) -> allQueues.merge(
                    name,
                    each,
                    (a, b) -> new OfQueue(
                            name, Math.max(a.pending(), b.pending()), Math.max(a.inFlight(), b.inFlight()))));
            Map<String, OfMemory> allMemory = new LinkedHashMap<>(memory);
            other.memory.forEach((name, each) ->
                    allMemory.merge(name, each, (a, b) -> new OfMemory(name, Math.max(a.live(), b.live()))));
            return new Values(
                    Math.max(calls, other.calls), Math.max(busyWorkers, other.busyWorkers), allQueues, allMemory);
        }
    }

    private record Interval(Instant begun, Values values) {}

    private final Supplier<Values> take;
    private final Deque<Interval> kept = new ArrayDeque<>(); // the latest last
    private long cursor; // intervals so far
    private Instant begun = Instant.now();

    /**
     * Creates peaks.
     *
     * @param take reads the largest values since the last call, as the only reader
     */
    Peaks(Supplier<Values> take) {
        this.take = take;
    }

    /**
     * Ends an interval, and returns the largest values of the intervals behind a cursor.
     *
     * @param since the cursor of the reader's previous response; null, or no cursor of this object, for the last interval
     */
    synchronized PeaksDescriptor since(@Nullable Long since) {
        if (kept.size() == KEPT) {
            kept.removeFirst();
        }
        kept.addLast(new Interval(begun, take.get()));
        begun = Instant.now();
        cursor++;
        long wanted = since == null || since < 0 || since >= cursor ? 1 : Math.min(cursor - since, kept.size());
        Interval first = kept.getLast();
        Values all = first.values;
        for (Interval each : (Iterable<Interval>) kept.reversed().stream().limit(wanted)::iterator) {
            first = each;
            all = each.values.or(all);
        }
        return new PeaksDescriptor(
                cursor,
                first.begun,
                all.calls,
                all.busyWorkers,
                List.copyOf(all.queues.values()),
                List.copyOf(all.memory.values()));
    }
}

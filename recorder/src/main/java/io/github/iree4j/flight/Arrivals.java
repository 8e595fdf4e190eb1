package io.github.iree4j.flight;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The actions of the host, each with the end of the operation before. A recording shows when the host acted, not why: a
 * request may follow the end of an earlier request on the same thread or on any other, or come by a timer. Forecasts
 * are made for each {@link Cause}.
 */
final class Arrivals {
    /** The cause of a submission by the host. */
    enum Cause {
        /**
         * The last end of the operations submitted by the same thread or call. Without such an end, the oldest end of a
         * request not followed by another request: another thread goes on, or a callback. So as many requests are in
         * flight as recorded.
         */
        LAST_END,
        /**
         * For the begin of a request, any end before, or none, whichever is earliest; for the rest of a call, the ends
         * seen by the call.
         */
        ANY_END,
        /** For the begin of a request, a moment; for the rest of a call, the ends seen by the call. */
        TIME
    }

    /**
     * An action of the host.
     *
     * @param operation the operation to submit, or the allocation of the memory to release
     * @param isRelease whether the host releases memory
     * @param follows the operation whose end comes before, if the end is known
     * @param delay nanoseconds after this end, or since the beginning of the recording
     */
    record Arrival(
            RecordedOperation operation,
            boolean isRelease,
            @Nullable RecordedOperation follows,
            long delay) {}

    private final OperationGraph graph;
    private final Cause cause;
    private final Map<Long, NavigableMap<Long, RecordedOperation>> ends = new HashMap<>(); // by thread, by -call
    private final NavigableSet<RecordedOperation> unfollowed; // the last operations of requests, by end

    private final Set<Long> begun = new HashSet<>(); // calls
    private final Map<Long, RecordedOperation> beginnings =
            new HashMap<>(); // the operation followed by the first operation, by call

    private Arrivals(OperationGraph graph, Cause cause) {
        this.graph = graph;
        this.cause = cause;
        this.unfollowed = new TreeSet<>(Comparator.comparingLong((RecordedOperation each) -> seenAt(graph, each))
                .thenComparingLong(RecordedOperation::number));
    }

    /** Returns the submissions of operations, in the order given, and then the releases of memory by the host. */
    static List<Arrival> of(OperationGraph graph, List<RecordedOperation> operations, Cause cause) {
        Arrivals arrivals = new Arrivals(graph, cause);
        operations.forEach(arrivals::addEnd);
        arrivals.ends.forEach((key, ofCall) -> {
            if (key < 0) {
                arrivals.unfollowed.add(ofCall.lastEntry().getValue());
            }
        });
        List<Arrival> all = new ArrayList<>();
        operations.forEach(each -> all.add(arrivals.submission(each)));
        for (RecordedOperation each : operations) {
            FlightEvent.Reserved reserved = each.reserved();
            FlightEvent.Released released =
                    reserved == null ? null : graph.memory().released(reserved.reservation());
            if (released != null && graph.memory().releaser(released.reservation()) == null) {
                all.add(arrivals.release(each, released.time()));
            }
        }
        return all;
    }

    private void addEnd(RecordedOperation operation) {
        long end = seenAt(graph, operation);
        ends.computeIfAbsent(operation.submitted.thread(), unused -> new TreeMap<>())
                .put(end, operation);
        if (operation.call() > 0) {
            ends.computeIfAbsent(-operation.call(), unused -> new TreeMap<>()).put(end, operation);
        } else {
            unfollowed.add(operation);
        }
    }

    private Arrival submission(RecordedOperation operation) {
        long time = operation.submittedAt();
        RecordedOperation follows = switch (cause) {
            case LAST_END -> lastEnd(operation);
            case ANY_END, TIME -> ofCall(operation);
        };
        return arrival(operation, false, follows, time);
    }

    private Arrival release(RecordedOperation allocation, long time) {
        RecordedOperation follows = later(
                upTo(ends(allocation.submitted.thread()), time),
                allocation.call() > 0 ? upTo(ends(-allocation.call()), time) : null);
        return arrival(allocation, true, follows, time);
    }

    private Arrival arrival(
            RecordedOperation operation, boolean isRelease, @Nullable RecordedOperation follows, long time) {
        return new Arrival(operation, isRelease, follows, time - (follows == null ? 0 : seenAt(graph, follows)));
    }

    private @Nullable RecordedOperation lastEnd(RecordedOperation operation) {
        RecordedOperation seen = later(before(operation.submitted.thread(), operation), ofCall(operation));
        boolean begins = operation.call() <= 0 || begun.add(operation.call());
        if (seen == null) {
            seen = begins ? oldest(operation) : beginnings.get(operation.call());
        }
        if (seen != null && begins) {
            unfollowed.remove(seen);
            beginnings.put(operation.call(), seen);
        }
        return seen;
    }

    private @Nullable RecordedOperation oldest(RecordedOperation operation) {
        for (RecordedOperation each : unfollowed) {
            if (seenAt(graph, each) > operation.submittedAt()) {
                return null;
            }
            if (each.number() < operation.number()) {
                return each;
            }
        }
        return null;
    }

    private @Nullable RecordedOperation ofCall(RecordedOperation operation) {
        return operation.call() > 0 ? before(-operation.call(), operation) : null;
    }

    private NavigableMap<Long, RecordedOperation> ends(long key) {
        return ends.getOrDefault(key, Collections.emptyNavigableMap());
    }

    private @Nullable RecordedOperation before(long key, RecordedOperation operation) {
        RecordedOperation last = upTo(ends(key), operation.submittedAt());
        return last == null || last.number() >= operation.number() ? null : last;
    }

    private static @Nullable RecordedOperation upTo(NavigableMap<Long, RecordedOperation> ends, long time) {
        Map.Entry<Long, RecordedOperation> last = ends.floorEntry(time);
        return last == null ? null : last.getValue();
    }

    private @Nullable RecordedOperation later(@Nullable RecordedOperation left, @Nullable RecordedOperation right) {
        return left == null || right != null && seenAt(graph, right) > seenAt(graph, left) ? right : left;
    }

    /** Returns when a thread could see the end of an operation: the record of the end may be made later. */
    static long seenAt(OperationGraph graph, RecordedOperation operation) {
        return Math.min(graph.end(operation), operation.overAt());
    }
}

package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.QueueScheduler;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The open operations with a submission seen by no recorder, and operations executed in parts: only the parts have
 * numbers. Such an operation has the same number in each listing. Guarded by the observer.
 */
final class UnnumberedOperations {
    /** The lasting properties of an operation; alike operations are counted. */
    private record Key(long axis, String name, long call, List<FlightEvent.Point> signals, int alike) {
        Key behind(int others) {
            return new Key(axis, name, call, signals, others);
        }
    }

    /**
     * An operation.
     *
     * @param isBefore whether the operation was submitted before the recording began
     */
    record Entry(long number, boolean isBefore) {}

    private @Nullable Map<Key, Entry> known; // of the last listing; null before the first

    /** A listing of all open operations. Confined to one thread. */
    final class Listing {
        private final Map<Key, Entry> found = new HashMap<>();
        private final Map<Key, Integer> alike = new HashMap<>(); // how many, by the key of the first

        /** Returns an operation, with a new number if the last listing did not have the operation. */
        Entry entry(
                QueueScheduler queue,
                String name,
                @Nullable Fence signal,
                @Nullable MemoryHolder call,
                LongSupplier numbers) {
            List<FlightEvent.Point> signals = new ArrayList<>();
            for (int i = 0; signal != null && i < signal.size(); i++) {
                signals.add(new FlightEvent.Point(signal.semaphore(i).id(), signal.value(i)));
            }
            Key first = new Key(queue.axis(), name, call == null ? 0 : call.number(), signals, 0);
            Key key = first.behind(alike.merge(first, 1, Integer::sum) - 1);
            Entry entry = known == null ? null : known.get(key);
            entry = entry == null ? new Entry(numbers.getAsLong(), known == null) : entry;
            found.put(key, entry);
            return entry;
        }
    }

    Listing list() {
        return new Listing();
    }

    /** Forgets the operations not found by a listing. */
    void keep(Listing listing) {
        known = listing.found;
    }
}

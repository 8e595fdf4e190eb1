package io.github.iree4j.flight;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The memory of a recording: reservations, releases and requests in line. Immutable once the recording has been read. */
final class RecordedMemory {
    private final Map<Long, FlightEvent.Reserved> reservations = new LinkedHashMap<>();
    private final Map<Long, FlightEvent.Released> releases = new HashMap<>();
    private final Map<Long, RecordedOperation> allocators = new HashMap<>(); // by reservation; null for the host
    private final Map<Long, RecordedOperation> releasers = new HashMap<>();
    private final Map<Request, TreeSet<Long>> lines = new HashMap<>(); // numbers of records
    private final Map<Integer, FlightEvent.PoolsHold> opened = new HashMap<>(); // by set
    private final Map<Integer, FlightEvent.PoolsHold> taken = new HashMap<>(); // by set
    private final Map<Integer, Long> releasedUnseen = new HashMap<>(); // bytes by set
    private final Map<Integer, SlabHistory> slabs = new HashMap<>();
    private final Map<Long, FlightEvent.Released> earlier = new HashMap<>(); // by the present reservation of the bytes
    private final List<RecordedPool> pools;

    /** The key shared by a request in line and the reservation for the request. */
    private record Request(int set, long bytes, long call) {}

    /** Begins without records of the memory of some pools. */
    RecordedMemory(List<RecordedPool> pools) {
        this.pools = pools;
    }

    void read(FlightEvent.Reserved reserved) {
        reservations.put(reserved.reservation(), reserved);
        SlabHistory slab = slabs.get(reserved.slab());
        FlightEvent.Released last = slab == null ? null : slab.reserved(reserved);
        if (last != null) {
            earlier.put(reserved.reservation(), last);
        }
        if (reserved.persistent()) {
            allocators.put(reserved.reservation(), null);
        }
    }

    void read(FlightEvent.Released released) {
        FlightEvent.Reserved reserved = reservations.get(released.reservation());
        if (reserved != null && releases.putIfAbsent(released.reservation(), released) == null) {
            slabs.computeIfAbsent(reserved.slab(), slab -> new SlabHistory()).released(reserved, released);
        }
    }

    void read(FlightEvent.InLine line) {
        lines.computeIfAbsent(new Request(set(line.pool()), line.bytes(), line.call()), unused -> new TreeSet<>())
                .add(line.sequence());
    }

    void read(FlightEvent.PoolsHold pools) {
        if (pools.taken()) {
            taken.put(pools.set(), pools);
        } else {
            opened.putIfAbsent(pools.set(), pools);
        }
    }

    void read(FlightEvent.ReleasedUnseen released) {
        if (opened.containsKey(set(released.pool()))) { // else released before the set was listed
            releasedUnseen.merge(set(released.pool()), released.bytes(), Long::sum);
        }
    }

    /** Returns the set of a pool, by the index of the pool in the recording. */
    int set(int pool) {
        return pools.get(pool).set();
    }

    /** Returns the memory held by each set of pools when the recording was taken, as far as recorded. */
    List<FlightEvent.PoolsHold> taken() {
        return List.copyOf(taken.values());
    }

    /** Returns the memory held by a set of pools when the recording was taken; null when not recorded. */
    FlightEvent.@Nullable PoolsHold taken(int set) {
        return taken.get(set);
    }

    /**
     * Returns the number of the first record not in the memory held by a set of pools; the largest number if not known.
     */
    long takenBefore(int set) {
        FlightEvent.PoolsHold known = taken.get(set);
        return known == null ? FlightEvent.PoolsHold.UNKNOWN : known.before();
    }

    /** Returns whether a reservation was released before a record. */
    boolean isReleased(FlightEvent.Reserved reserved, long before) {
        FlightEvent.Released released = releases.get(reserved.reservation());
        return released != null && released.sequence() < before;
    }

    /** Returns the memory held by a set of pools when the recorder was opened, or the set created; null when not recorded. */
    FlightEvent.@Nullable PoolsHold opened(int set) {
        return opened.get(set);
    }

    /** Returns the bytes of a set held when the recorder was opened, and released since, as far as recorded. */
    long releasedUnseen(int set) {
        return releasedUnseen.getOrDefault(set, 0L);
    }

    /** Reads the issue of an operation allocating or releasing memory. */
    void issued(RecordedOperation operation, long reservation) {
        if (allocators.putIfAbsent(reservation, operation) == null) {
            operation.reserved = reservations.get(reservation);
        } else {
            releasers.putIfAbsent(reservation, operation);
        }
    }

    /** Returns the reservations, in order. */
    List<FlightEvent.Reserved> reservations() {
        return List.copyOf(reservations.values());
    }

    /** Returns a reservation; null when not recorded. */
    FlightEvent.@Nullable Reserved reservation(long reservation) {
        return reservations.get(reservation);
    }

    /** Returns the release of a reservation; null when not released. */
    FlightEvent.@Nullable Released released(long reservation) {
        return releases.get(reservation);
    }

    /** Returns the operation that allocated a reservation; null for the host, and before the issue. */
    @Nullable
    RecordedOperation allocator(long reservation) {
        return allocators.get(reservation);
    }

    /** Returns the operation that released a reservation; null for the host, and before the release. */
    @Nullable
    RecordedOperation releaser(long reservation) {
        return releasers.get(reservation);
    }

    /** Returns the last release of any of the bytes before a reservation; null when there was none. */
    FlightEvent.@Nullable Released earlierUse(long reservation) {
        return earlier.get(reservation);
    }

    /** Returns whether an allocation held back stood in line, as far as the pools, the size and the call show. */
    boolean stoodInLine(RecordedOperation operation) {
        FlightEvent.Held held = operation.held;
        FlightEvent.Reserved reserved = operation.reserved;
        if (held == null || reserved == null) {
            return held != null;
        }
        TreeSet<Long> alike = lines.get(new Request(set(reserved.pool()), reserved.size(), reserved.call()));
        Long first = alike == null ? null : alike.higher(held.sequence());
        return first != null && first < reserved.sequence();
    }
}

package io.github.iree4j.flight;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.DispatchObserver;
import io.github.iree4j.hal.schedule.DispatchingOperation;
import io.github.iree4j.hal.schedule.QueueOperation;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the executions whose dispatches are recorded, and writes their records: a list at the submission, then a
 * record for each dispatch that is over. Safe from any thread.
 *
 * <p>Of every {@code every} executions of a function one is chosen, the first of the first. Later the place among them
 * changes by the golden ratio: calls of, for example, four executions would always show the same execution otherwise.
 */
final class DispatchSampling implements DispatchObserver {
    /** The most dispatches recorded of an execution: the first. */
    static final int MAXIMUM = 4096;

    /** The words of a listed dispatch. */
    static final int WORDS = 4;

    private static final int MAXIMUM_ENTRIES = 4096; // programs, and functions of a program, counted apart
    private static final Listing NONE = new Listing(new Definitions(), false);
    private static final Listing NONE_TIMED = new Listing(new Definitions(), true);
    private static final int GOLDEN = 0x9E3779B9; // of 2^32

    private final RecordRings rings;
    private final Definitions definitions;
    private final RecordingDrain drain;
    private final int every;
    private final ConcurrentHashMap<String, ConcurrentHashMap<String, AtomicLong>> executions =
            new ConcurrentHashMap<>(); // by program and function
    private final AtomicLong otherExecutions = new AtomicLong(); // of no call, and of functions beyond the limit

    /**
     * Begins with no executions.
     *
     * @param every one of so many executions of a function is chosen; 0 for none
     */
    DispatchSampling(RecordRings rings, Definitions definitions, RecordingDrain drain, int every) {
        this.rings = rings;
        this.definitions = definitions;
        this.drain = drain;
        this.every = every;
    }

    /**
     * Returns the dispatches of a chosen operation, and has the times of the dispatches reported. An operation without
     * dispatches always gets an empty list, and is not counted among the executions. Called within the submission.
     *
     * @return null for an operation that is not chosen
     */
    @Nullable
    Listing submitted(QueueOperation operation, @Nullable MemoryHolder call) {
        if (every == 0 || !(operation instanceof DispatchingOperation dispatching)) {
            return null;
        }
        if (!dispatching.hasDispatches()) {
            return dispatching.timesDispatches() ? NONE_TIMED : NONE;
        }
        if (!isChosen(executions(call).getAndIncrement())) {
            return null;
        }
        Listing listing = new Listing(definitions, dispatching.timesDispatches());
        dispatching.forEachDispatch(listing); // the part between two collectives may have none
        if (listing.count > 0) {
            operation.observeDispatches(this);
        }
        return listing;
    }

    /** Returns whether an execution is chosen, by the number of earlier executions of its function. */
    private boolean isChosen(long earlier) {
        int round = (int) (earlier / every);
        return earlier % every == Integer.toUnsignedLong(round * GOLDEN) * every >>> Integer.SIZE;
    }

    /** Returns the counter of the executions of a call's function. */
    private AtomicLong executions(@Nullable MemoryHolder call) {
        if (call == null) {
            return otherExecutions;
        }
        ConcurrentHashMap<String, AtomicLong> functions =
                entry(executions, call.operations().program(), ConcurrentHashMap::new);
        AtomicLong counter = functions == null ? null : entry(functions, call.name(), AtomicLong::new);
        return counter == null ? otherExecutions : counter;
    }

    private static <T> @Nullable T entry(ConcurrentHashMap<String, T> entries, String key, Supplier<T> create) {
        T known = entries.get(key);
        return known != null || entries.size() >= MAXIMUM_ENTRIES
                ? known
                : entries.computeIfAbsent(key, unused -> create.get());
    }

    @Override
    public long now() {
        return rings.now();
    }

    @Override
    public void dispatched(QueueOperation operation, int index, Dispatch dispatch) {
        if (index >= MAXIMUM) {
            return;
        }
        RecordRing ring = rings.hold(dispatch.end());
        try {
            ring.begin(RecordType.DISPATCHED, 8, dispatch.end());
            ring.put(operation.number());
            ring.put(index);
            ring.put(dispatch.begin());
            ring.put(dispatch.workers());
            ring.put(dispatch.outcome().ordinal());
            ring.put(dispatch.x());
            ring.put(dispatch.y());
            ring.put(dispatch.z());
        } finally {
            ring.release();
        }
        drain.look(ring, dispatch.end());
    }

    /** The words of the first dispatches of an execution; names are defined before a ring is held. */
    static final class Listing implements DispatchingOperation.Visitor {
        private final Definitions definitions;
        private final boolean timed;
        private long[] words = {};
        private int count;

        private Listing(Definitions definitions, boolean timed) {
            this.definitions = definitions;
            this.timed = timed;
        }

        /** Makes the record of the dispatches. The caller holds the ring. */
        void put(RecordRing ring, long number, long now) {
            int listed = Math.min(MAXIMUM, count);
            ring.begin(RecordType.DISPATCHES, 4 + WORDS * listed, now);
            ring.put(number);
            ring.put(timed ? 1 : 0);
            ring.put(count);
            ring.put(listed);
            for (int i = 0; i < WORDS * listed; i++) {
                ring.put(words[i]);
            }
        }

        @Override
        public void dispatch(String export, long x, long y, long z) {
            int at = count++ * WORDS;
            if (count > MAXIMUM) {
                return;
            }
            if (at == words.length) {
                words = Arrays.copyOf(words, Math.max(8 * WORDS, at * 2));
            }
            words[at] = definitions.name(export);
            words[at + 1] = x;
            words[at + 2] = y;
            words[at + 3] = z;
        }
    }
}

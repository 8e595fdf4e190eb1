package io.github.iree4j.flight;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.DispatchObserver;
import io.github.iree4j.hal.schedule.DispatchingOperation;
import io.github.iree4j.hal.schedule.QueueOperation;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the executions with recorded dispatches, and writes the records: a list at the submission, then a record for
 * each ended dispatch. Safe from any thread.
 *
 * <p>Of every {@code every} executions of a function one is chosen, at first the first. Later the place changes by the
 * golden ratio: calls of, for example, four executions would always show the same execution otherwise. A function not
 * executed during the executions of more than {@value #MAXIMUM_FUNCTIONS} others begins anew.
 */
final class DispatchSampling implements DispatchObserver {
    /** The most dispatches recorded of an execution: the first. */
    static final int MAXIMUM = 4096;

    /** The words of a listed dispatch. */
    static final int WORDS = 4;

    private static final int MAXIMUM_FUNCTIONS = 4096; // of the latest functions, and as many before
    private static final Listing NONE = new Listing(false);
    private static final Listing NONE_TIMED = new Listing(true);
    private static final int GOLDEN = 0x9E3779B9; // of 2^32

    private final RecordRings rings;
    private final Definitions definitions;
    private final RecordingDrain drain;
    private final int every;
    private volatile Executions executions = new Executions();
    private Executions before = new Executions(); // of functions not executed since; guarded by this
    private final AtomicLong otherExecutions = new AtomicLong(); // of no call

    /** The number of executions of each function, by the names of the program and the function: two names need no key object. */
    private static final class Executions {
        private final Map<String, Map<String, AtomicLong>> byProgram = new ConcurrentHashMap<>();
        private int functions; // guarded by the sampling

        @Nullable
        AtomicLong of(MemoryHolder call) {
            Map<String, AtomicLong> byName = byProgram.get(call.operations().program());
            return byName == null ? null : byName.get(call.name());
        }

        void put(MemoryHolder call, AtomicLong counter) {
            functions++;
            byProgram
                    .computeIfAbsent(call.operations().program(), unused -> new ConcurrentHashMap<>())
                    .put(call.name(), counter);
        }
    }

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
     * @return null for an operation not chosen
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
        Listing listing = new Listing(dispatching.timesDispatches());
        // The part between two collectives may have none.
        dispatching.forEachDispatch((export, x, y, z) -> listing.add(definitions, export, x, y, z));
        if (listing.count > 0) {
            operation.observeDispatches(this);
        }
        return listing;
    }

    /** Returns whether an execution is chosen, by the number of earlier executions of the function. */
    private boolean isChosen(long earlier) {
        int round = (int) (earlier / every);
        return earlier % every == Integer.toUnsignedLong(round * GOLDEN) * every >>> Integer.SIZE;
    }

    /** Returns the counter of the executions of a call's function. */
    private AtomicLong executions(@Nullable MemoryHolder call) {
        if (call == null) {
            return otherExecutions;
        }
        AtomicLong known = executions.of(call);
        return known != null ? known : counter(call);
    }

    /** Returns a new counter, or the earlier counter of a function executed before many other functions. */
    private synchronized AtomicLong counter(MemoryHolder call) {
        AtomicLong known = executions.of(call);
        if (known != null) { // made by another thread meanwhile
            return known;
        }
        if (executions.functions >= MAXIMUM_FUNCTIONS) {
            before = executions;
            executions = new Executions();
        }
        AtomicLong earlier = before.of(call);
        AtomicLong counter = earlier != null ? earlier : new AtomicLong();
        executions.put(call, counter);
        return counter;
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
    static final class Listing {
        private final boolean timed;
        private long[] words = {};
        private int count;

        private Listing(boolean timed) {
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

        private void add(Definitions definitions, String export, long x, long y, long z) {
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

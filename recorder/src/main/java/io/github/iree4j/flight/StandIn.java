package io.github.iree4j.flight;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.hal.storage.StorageRelease;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An operation of a replay; does nothing. Confined to one thread. */
class StandIn extends QueueOperation {
    private final RecordedOperation recorded;
    private @Nullable List<WaitDecision> firstDecisions;
    private int decisions; // number of decisions about the waits
    private long endedAt = RecordedOperation.NEVER;
    private Runnable beforeSignals = () -> {};

    StandIn(RecordedOperation recorded) {
        super(recorded.name());
        this.recorded = recorded;
    }

    final RecordedOperation recorded() {
        return recorded;
    }

    /** Returns the decisions at submission. */
    final List<WaitDecision> firstDecisions() {
        return firstDecisions == null ? List.of() : firstDecisions;
    }

    /** Notes decisions about the waits; returns the number of earlier decisions. */
    final int decided(List<WaitDecision> now) {
        firstDecisions = firstDecisions == null ? now : firstDecisions;
        return decisions++;
    }

    /** Returns when the operation ended on the virtual clock. */
    final long endedAt() {
        return endedAt;
    }

    final void ended(long time) {
        endedAt = time;
    }

    /** Has an action run at the end, immediately before the signals. */
    final void beforeSignals(Runnable action) {
        beforeSignals = action;
    }

    @Override
    protected void retain() {}

    @Override
    protected void release() {
        beforeSignals.run();
    }

    /** An allocation, getting memory at the time of the recorded allocation. */
    static final class Allocation extends StandIn implements StorageRequest {
        private final Supplier<List<NativeTimepoint>> marks;
        private final boolean atOnce;
        private boolean granted;
        private @Nullable Consumer<@Nullable IreeException> waiting;

        /**
         * Creates an allocation.
         *
         * @param granted whether a pool had memory
         * @param atOnce whether a pool got memory as soon as requested without a lock
         */
        Allocation(RecordedOperation recorded, boolean granted, boolean atOnce, Supplier<List<NativeTimepoint>> marks) {
            super(recorded);
            this.granted = granted;
            this.atOnce = atOnce;
            this.marks = marks;
        }

        void grant() {
            granted = true;
            Consumer<@Nullable IreeException> done = waiting;
            waiting = null;
            if (done != null) {
                done.accept(null);
            }
        }

        @Override
        public boolean tryReservePresent(Frontier after, NativeTimepoints timepoints) {
            return granted;
        }

        @Override
        public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
            granted |= atOnce;
            return granted;
        }

        @Override
        public void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
            if (granted) {
                done.accept(null);
            } else {
                waiting = done;
            }
        }

        @Override
        public List<NativeTimepoint> marks() {
            return marks.get();
        }

        @Override
        public Frontier premise() {
            return Frontier.EMPTY;
        }

        @Override
        public void issued(Frontier frontier) {}
    }

    /** A deallocation. */
    static final class Deallocation extends StandIn implements StorageRelease {
        private final Runnable released;

        Deallocation(RecordedOperation recorded, Runnable released) {
            super(recorded);
            this.released = released;
        }

        @Override
        public void issued(Frontier death) {
            released.run();
        }

        @Override
        public @Nullable Reservation memory() {
            return null;
        }
    }
}

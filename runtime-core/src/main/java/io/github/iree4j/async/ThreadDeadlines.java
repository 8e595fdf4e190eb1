package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.WaitTime;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Deadlines of synchronous work: the thread running the work is interrupted when the work is late. Deadlines are
 * checked every {@value #LOOK_MILLIS} ms while there are any, so no work pays for a separate timer. Thread-safe.
 *
 * <pre>{@code
 * ThreadDeadlines.Deadline deadline = deadlines.begin(Duration.ofSeconds(60));
 * try {
 *     work(); // ends when its thread is interrupted
 * } finally {
 *     deadline.end();
 * }
 * }</pre>
 */
@NotForApplications
public final class ThreadDeadlines {
    /** Milliseconds between two checks. */
    public static final int LOOK_MILLIS = 100;

    private static final ThreadLocal<Deadline> CURRENT = new ThreadLocal<>();

    private final LongSupplier clock;
    private final Executor later;
    private final Set<Deadline> deadlines = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean armed = new AtomicBoolean();

    /** Creates an empty set. */
    public ThreadDeadlines() {
        this(System::nanoTime, CompletableFuture.delayedExecutor(LOOK_MILLIS, TimeUnit.MILLISECONDS));
    }

    /**
     * Creates an empty set with a given clock.
     *
     * @param clock nanoseconds
     * @param later runs a task once, after a while
     */
    public ThreadDeadlines(LongSupplier clock, Executor later) {
        this.clock = clock;
        this.later = later;
    }

    /** The deadline of a piece of work. */
    public final class Deadline {
        private enum State {
            RUNNING,
            INTERRUPTING,
            INTERRUPTED,
            OVER
        }

        private final Thread thread = Thread.currentThread();
        private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
        private final @Nullable Deadline outer;
        private final long since;
        private final long nanos;
        private boolean late; // of the thread; written at the end

        private Deadline(@Nullable Deadline outer, long since, long nanos) {
            this.outer = outer;
            this.since = since;
            this.nanos = nanos;
        }

        /**
         * Interrupts the work.
         *
         * @return false when the work has ended or was interrupted before
         */
        public boolean interrupt() {
            if (!state.compareAndSet(State.RUNNING, State.INTERRUPTING)) {
                return false;
            }
            thread.interrupt(); // the thread does not leave before the state records the interrupt
            state.set(State.INTERRUPTED);
            return true;
        }

        private boolean hasPassed() {
            return nanos < Long.MAX_VALUE && clock.getAsLong() - since >= nanos;
        }

        /** Ends the deadline on the thread that began it, inner deadlines first, and clears the interrupt raised by this deadline, if any. */
        public void end() {
            late = hasPassed();
            if (nanos < Long.MAX_VALUE) {
                deadlines.remove(this);
                if (outer == null) {
                    CURRENT.remove();
                } else {
                    CURRENT.set(outer);
                }
            }
            if (state.compareAndSet(State.RUNNING, State.OVER)) {
                return;
            }
            while (state.get() == State.INTERRUPTING) {
                Thread.onSpinWait();
            }
            Thread.interrupted();
        }

        /**
         * Returns whether the work has ended after its deadline, interrupted or not.
         *
         * @return for the thread of the work, after {@link #end}
         */
        public boolean isLate() {
            return late;
        }
    }

    /**
     * Begins a deadline for this thread, which must {@link Deadline#end} the deadline.
     *
     * @param limit from now on; null for none: then only {@link Deadline#interrupt} interrupts the work
     * @return the deadline
     */
    public Deadline begin(@Nullable Duration limit) {
        if (limit == null) {
            return new Deadline(null, 0, Long.MAX_VALUE);
        }
        Deadline deadline =
                new Deadline(CURRENT.get(), clock.getAsLong(), Math.min(WaitTime.nanos(limit), WaitTime.FOREVER - 1));
        CURRENT.set(deadline);
        deadlines.add(deadline);
        arm();
        return deadline;
    }

    /**
     * Returns whether this thread has a deadline of any instance: by default, work within a deadline needs no other.
     *
     * @return true between begin and end of a deadline with a limit
     */
    public static boolean isThreadLimited() {
        return CURRENT.get() != null;
    }

    /**
     * Returns whether a deadline of this thread, of any instance, has passed: the results of the work come too late.
     *
     * @return true between the moment and the end of such a deadline
     */
    public static boolean isThreadLate() {
        for (Deadline each = CURRENT.get(); each != null; each = each.outer) {
            if (each.hasPassed()) {
                return true;
            }
        }
        return false;
    }

    private void arm() {
        if (armed.compareAndSet(false, true)) {
            later.execute(this::look);
        }
    }

    private void look() {
        for (Deadline each : deadlines) {
            if (each.hasPassed()) {
                each.interrupt();
            }
        }
        armed.set(false); // before the check: a deadline beginning meanwhile arms the timer itself
        if (!deadlines.isEmpty()) {
            arm();
        }
    }
}

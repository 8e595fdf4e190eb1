package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Deadlines of synchronous work: the thread running the work is interrupted when the work is late, at every check until
 * the work ends: inner work or other code may clear an interrupt. Work is checked every {@value #LOOK_MILLIS} ms while
 * any has a deadline, so no work pays for a separate timer. Thread-safe.
 *
 * <pre>{@code
 * ThreadDeadlines.Work here = deadlines.begin(Deadline.after(Duration.ofSeconds(60)));
 * try {
 *     work(); // ends when its thread is interrupted
 * } finally {
 *     here.end();
 * }
 * }</pre>
 */
@NotForApplications
public final class ThreadDeadlines {
    /** Milliseconds between two checks. */
    public static final int LOOK_MILLIS = 100;

    private static final ThreadLocal<Work> CURRENT = new ThreadLocal<>();

    private final Executor later;
    private final Set<Work> limited = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean armed = new AtomicBoolean();

    /** Creates an empty set. */
    public ThreadDeadlines() {
        this(CompletableFuture.delayedExecutor(LOOK_MILLIS, TimeUnit.MILLISECONDS));
    }

    /**
     * Creates an empty set with a given timer.
     *
     * @param later runs a task once, after a while
     */
    public ThreadDeadlines(Executor later) {
        this.later = later;
    }

    /** A piece of work on one thread. */
    public final class Work {
        private enum State {
            RUNNING,
            INTERRUPTING,
            INTERRUPTED,
            OVER
        }

        private final Thread thread = Thread.currentThread();
        private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
        private final @Nullable Work outer; // with a deadline
        private final @Nullable Deadline deadline;
        private boolean late; // of the thread; written at the end

        private Work(@Nullable Work outer, @Nullable Deadline deadline) {
            this.outer = outer;
            this.deadline = deadline;
        }

        /**
         * Interrupts the work.
         *
         * @return false when the work has ended or was interrupted before
         */
        public boolean interrupt() {
            return interrupt(State.RUNNING);
        }

        private boolean interrupt(State from) {
            if (!state.compareAndSet(from, State.INTERRUPTING)) {
                return false;
            }
            thread.interrupt(); // the thread does not leave before the state records the interrupt
            state.set(State.INTERRUPTED);
            return true;
        }

        private boolean hasPassed() {
            return deadline != null && deadline.hasPassed();
        }

        /** Ends the work on the thread of the work, inner work first, and clears the interrupt raised here, if any. */
        public void end() {
            late = hasPassed();
            if (deadline != null) {
                limited.remove(this);
                if (outer == null) {
                    CURRENT.remove();
                } else {
                    CURRENT.set(outer);
                }
            }
            if (state.compareAndSet(State.RUNNING, State.OVER)) {
                return;
            }
            while (state.get() == State.INTERRUPTING || !state.compareAndSet(State.INTERRUPTED, State.OVER)) {
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
     * Begins work on this thread, which must {@link Work#end} the work.
     *
     * @param deadline null for none: then only {@link Work#interrupt} interrupts the work
     * @return the work
     */
    public Work begin(@Nullable Deadline deadline) {
        if (deadline == null) {
            return new Work(null, null);
        }
        Work work = new Work(CURRENT.get(), deadline);
        CURRENT.set(work);
        limited.add(work);
        arm();
        return work;
    }

    /**
     * Returns whether a deadline of this thread, of any instance, certainly comes before a deadline of now. The check
     * compares durations without reading a clock, since deadlines of the thread began earlier.
     *
     * @param limit the duration of a deadline of now
     * @return false when no deadline of the thread is known to come before; such a deadline is then necessary
     */
    public static boolean isThreadLimitedTo(Duration limit) {
        for (Work each = CURRENT.get(); each != null; each = each.outer) {
            if (each.deadline != null && each.deadline.timeout().compareTo(limit) <= 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether a deadline of this thread, of any instance, has passed: the results of the work come too late.
     *
     * @return true between the moment and the end of such a deadline
     */
    public static boolean isThreadLate() {
        for (Work each = CURRENT.get(); each != null; each = each.outer) {
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
        for (Work each : limited) {
            if (each.hasPassed() && !each.interrupt()) {
                each.interrupt(Work.State.INTERRUPTED);
            }
        }
        armed.set(false); // before the check: work beginning meanwhile arms the timer itself
        if (!limited.isEmpty()) {
            arm();
        }
    }
}

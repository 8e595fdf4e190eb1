package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.CrowdTimepoint;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Holds an operation back until other parties promise or resolve its waits. Notifies the scheduler once, when the last
 * wait has ended or the first has failed.
 *
 * <p>SCHED-1: the thread that takes {@code left} from above zero to zero or below notifies the scheduler; {@code left}
 * never rises above zero again.
 */
final class Deferral implements CrowdTimepoint {
    /** Far below zero: no sequence of later decrements can wrap around. */
    private static final int OVER = Integer.MIN_VALUE / 2;

    private final QueueScheduler scheduler;
    final QueueOperation operation;
    final long since = System.nanoTime();

    /** True while the operation waits to be issued; false when it has run and waits to be retired. */
    final boolean beforeIssue;

    private final AtomicInteger left; // OVER or below once ended
    private final @Nullable Cancellation[] waits; // guarded by itself
    private int registered; // guarded by waits
    private @Nullable List<Cancellation> watched; // guarded by waits; null without watches

    // Links in the scheduler's list of operations to be issued, guarded by this list's lock.
    @Nullable
    Deferral previous;

    @Nullable
    Deferral next;

    boolean linked;

    Deferral(QueueScheduler scheduler, QueueOperation operation, boolean beforeIssue, int count) {
        this.scheduler = scheduler;
        this.operation = operation;
        this.beforeIssue = beforeIssue;
        this.left = new AtomicInteger(count);
        this.waits = new @Nullable Cancellation[count];
    }

    /**
     * Registers a wait: for a promise, or for the value itself. Called as often as the count given to the constructor.
     *
     * @param index of the wait in the operation's fence
     */
    void add(TimelineSemaphore semaphore, long value, boolean promise, int index) {
        if (left.get() <= 0) {
            return; // a wait has failed
        }
        CrowdTimepoint end =
                beforeIssue && scheduler.siblings.observes(operation) ? new ObservedWait(this, index) : this;
        Cancellation wait = promise ? semaphore.whenPromised(value, end) : semaphore.whenReached(value, end);
        synchronized (waits) {
            if (left.get() > 0) {
                waits[registered++] = wait;
                return;
            }
        }
        wait.cancel();
    }

    /** A wait with an observed end. */
    private record ObservedWait(Deferral deferral, int index) implements CrowdTimepoint {
        @Override
        public @Nullable Executor crowdExecutor() {
            return deferral.crowdExecutor();
        }

        @Override
        public void reached(long value, @Nullable IreeException failure) {
            if (failure == null && deferral.left.get() > 0) {
                deferral.scheduler.siblings.waitOver(deferral.operation, index);
            }
            deferral.reached(value, failure);
        }
    }

    /**
     * Ends the deferral with the failure of a wait that does not hold the operation back: a promised wait may fail
     * while the operation waits for something else. Called at any time while the deferral waits.
     *
     * <p>SCHED-5: a watch is registered before the deferral is examined again, and cancelled by the thread that ended
     * the deferral or by this method.
     */
    void watch(Fence wait) {
        for (int i = 0; i < wait.size() && left.get() > 0; i++) {
            if (wait.semaphore(i).value() >= wait.value(i)) {
                continue;
            }
            Cancellation watch = wait.semaphore(i).whenReached(wait.value(i), new WatchedWait(this));
            boolean open;
            synchronized (waits) {
                open = left.get() > 0;
                if (open) {
                    watched = watched == null ? new ArrayList<>(wait.size()) : watched;
                    watched.add(watch);
                }
            }
            if (!open) {
                watch.cancel();
            }
        }
    }

    /** A wait of which only the failure matters. */
    private record WatchedWait(Deferral deferral) implements CrowdTimepoint {
        @Override
        public @Nullable Executor crowdExecutor() {
            return deferral.crowdExecutor();
        }

        @Override
        public void reached(long value, @Nullable IreeException failure) {
            if (failure != null) {
                deferral.end(failure);
            }
        }
    }

    private void endWatches() {
        List<Cancellation> ended;
        synchronized (waits) {
            ended = watched;
            watched = null;
        }
        if (ended != null) {
            ended.forEach(Cancellation::cancel);
        }
    }

    @Override
    public @Nullable Executor crowdExecutor() {
        return scheduler.crowdExecutor();
    }

    @Override
    public void reached(long value, @Nullable IreeException failure) {
        if (failure != null) {
            end(failure);
        } else if (left.decrementAndGet() == 0) {
            if (operation instanceof StorageRequest) {
                endWatches();
            }
            scheduler.resume(this, null);
        }
    }

    /** Ends the deferral before the first wait is added, without notifying the scheduler; returns false when already ended. */
    boolean abandon() {
        return left.getAndSet(OVER) > 0;
    }

    /**
     * Ends the deferral with a failure.
     *
     * @return false when already ended
     */
    boolean end(IreeException failure) {
        if (left.getAndSet(OVER) <= 0) {
            return false;
        }
        synchronized (waits) {
            for (int i = 0; i < registered; i++) {
                if (waits[i] instanceof Cancellation wait) {
                    wait.cancel();
                    waits[i] = null;
                }
            }
        }
        endWatches();
        scheduler.resume(this, failure);
        return true;
    }
}

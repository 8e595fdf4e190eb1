package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A run of a stream's host step, on a virtual thread; receives the end of the step. */
final class StepRun implements Consumer<@Nullable IreeException> {
    private static final Logger LOG = LoggerFactory.getLogger(StepRun.class);

    private final HardwareStream stream;
    private final StreamEntry entry;
    private final AtomicBoolean over = new AtomicBoolean();
    private @Nullable StreamEntry next; // the next step for the same thread
    private boolean running = true; // guarded by the lock of the queue, like `next`

    private StepRun(HardwareStream stream, StreamEntry entry) {
        this.stream = stream;
        this.entry = entry;
        synchronized (stream.queue()) {
            stream.stepThread = Thread.currentThread();
        }
    }

    /** Runs a step and the steps directly following, on the thread of the step, without a lock. */
    static void all(HardwareStream stream, StreamEntry first) {
        for (StreamEntry entry = first; entry != null; ) {
            entry.hardwareOver();
            StepRun run = new StepRun(stream, entry);
            run.run();
            entry = run.leave();
        }
    }

    private void run() {
        try {
            IreeException cause = causeAgainst();
            if (cause == null) {
                Objects.requireNonNull(entry.step).run(this);
            } else {
                accept(cause);
            }
        } catch (Throwable t) {
            accept(HardwareStream.failure(entry.operation, t));
        }
    }

    /**
     * SCHED-7: returns why the step does not run; null when nothing has failed. The hardware has passed the operation's
     * waits and commands, even where these have failed. Waits until the host knows the outcome.
     */
    private @Nullable IreeException causeAgainst() {
        synchronized (stream.queue()) {
            entry.failIfLate();
            if (entry.failure != null) {
                return entry.failure;
            }
        }
        return entry.operation.awaitWaits();
    }

    @Override
    public void accept(@Nullable IreeException failure) {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        if (failure != null) {
            clear();
        }
        Ended ended = new Ended();
        stream.queue().lockedInUse(() -> {
            entry.fail(failure);
            StreamEntry following = stream.stepOver(entry, ended);
            if (following != null) {
                if (running) {
                    next = following;
                } else {
                    stream.startStep(following);
                }
            }
        });
        ended.report();
    }

    private void clear() {
        try {
            Objects.requireNonNull(entry.step).failed();
        } catch (RuntimeException | Error e) { // the stream must continue
            LOG.error("what a failed {} has left could not be cleared", entry.operation.name(), e);
        }
    }

    /** Ends the synchronous part of the run; returns the next step to run. */
    private @Nullable StreamEntry leave() {
        synchronized (stream.queue()) {
            running = false;
            if (Thread.currentThread().equals(stream.stepThread)) {
                stream.stepThread = null;
            }
            return next;
        }
    }
}

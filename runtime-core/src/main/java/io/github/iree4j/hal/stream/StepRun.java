package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One run of the host step of a stream, on a virtual thread; receives its end. */
final class StepRun implements Consumer<@Nullable IreeException> {
    private static final Logger LOG = LoggerFactory.getLogger(StepRun.class);

    private final HardwareStream stream;
    private final StreamEntry entry;
    private final AtomicBoolean over = new AtomicBoolean();
    private @Nullable StreamEntry next; // the next step for the same thread
    private boolean running = true; // guarded by the lock of the queue, like the one before

    private StepRun(HardwareStream stream, StreamEntry entry) {
        this.stream = stream;
        this.entry = entry;
        synchronized (stream.queue()) {
            stream.stepThread = Thread.currentThread();
        }
    }

    /** On the thread of the step, without a lock: runs it, and directly following ones. */
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
     * SCHED-7: why the step does not run: the hardware is past the waits of its operation, and past its commands, also where those have failed.
     * Null when they have not; waits until the host knows.
     */
    private @Nullable IreeException causeAgainst() {
        synchronized (stream.queue()) {
            entry.fail(entry.late);
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
        synchronized (stream.queue()) {
            entry.fail(failure);
            StreamEntry following = stream.stepOver(entry, ended);
            if (following != null) {
                if (running) {
                    next = following;
                } else {
                    stream.startStep(following);
                }
            }
        }
        ended.tell();
    }

    private void clear() {
        try {
            Objects.requireNonNull(entry.step).failed();
        } catch (RuntimeException | Error e) { // the stream must go on
            LOG.error("what a failed {} has left could not be cleared", entry.operation.name(), e);
        }
    }

    /** The call has returned; returns the next step to run. */
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

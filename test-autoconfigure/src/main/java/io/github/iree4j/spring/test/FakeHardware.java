package io.github.iree4j.spring.test;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** A virtual device; the second queue runs the work of scripted functions in sequence, each for the given duration. */
final class FakeHardware implements VirtualScript {
    /** The index of the queue of scripted work; programs have queue 0. */
    private static final int SCRIPTED = 1;

    private final VirtualClock clock;
    private final Deque<Long> durations = new ArrayDeque<>(); // in the order of submission; guarded by the deque itself
    private volatile @Nullable VirtualDevice device;

    FakeHardware(VirtualClock clock) {
        this.clock = clock;
    }

    Duration now() {
        return Duration.ofNanos(clock.now()); // a tick of this module's clocks is a nanosecond
    }

    VirtualClock clock() {
        return clock;
    }

    void opened(VirtualDevice opened) {
        device = opened;
    }

    VirtualDevice device() {
        VirtualDevice opened = device;
        if (opened == null) {
            throw new IllegalStateException("the device has not been opened");
        }
        return opened;
    }

    /** Submits work of the duration; the end of the work signals the fence. */
    void work(long nanos, Fence done) {
        synchronized (durations) { // work starts in the order of submission
            durations.add(nanos);
        }
        device().queue(SCRIPTED).barrier(null, done, 0);
    }

    @Override
    public long duration(int queue, long number, QueueOperation operation) {
        if (queue != SCRIPTED) {
            return 0;
        }
        synchronized (durations) {
            Long next = durations.poll();
            return next == null ? 0 : next;
        }
    }
}

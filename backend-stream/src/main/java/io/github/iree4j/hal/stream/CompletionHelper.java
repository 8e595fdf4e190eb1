package io.github.iree4j.hal.stream;

import io.github.iree4j.async.WaitHelper;
import io.github.iree4j.lifetime.UseGuard;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Lets a thread waiting for a device look for completions for a while: between the hardware's interrupt and the waiting
 * thread, up to two other threads would have to be woken.
 */
final class CompletionHelper implements WaitHelper {
    /**
     * Longer than a notice through all threads takes: 40 to 90 microseconds on a virtual machine with an NVIDIA H200, where
     * looking for 30 microseconds missed half of the completions of a single short dispatch.
     */
    private static final long SPIN_NANOS = 100_000;

    /**
     * The most threads looking at once: a single thread reports the completions for all, and others would only contend.
     * The second has a chance to begin before the first has ended. A guess.
     */
    private static final int MOST = 2;

    private final AtomicInteger helping = new AtomicInteger();
    private final UseGuard work;
    private final List<HardwareQueue> queues;
    private final Consumer<Throwable> failed;

    /**
     * Creates a helper.
     *
     * @param work guard whose uses keep the driver open
     * @param queues the device's queues
     * @param failed fails the device; called on the waiting thread
     */
    CompletionHelper(UseGuard work, List<HardwareQueue> queues, Consumer<Throwable> failed) {
        this.work = work;
        this.queues = queues;
        this.failed = failed;
    }

    @Override
    public boolean tryBegin() {
        if (helping.incrementAndGet() <= MOST) {
            return true;
        }
        helping.decrementAndGet();
        return false;
    }

    @Override
    public void end(boolean worked) {
        helping.decrementAndGet();
    }

    /** Never says WORKED: the time is limited from the first look on, however much other work ends meanwhile. */
    @Override
    public Outcome help() {
        if (!work.tryEnter()) {
            return Outcome.NOTHING; // closed, and nothing in flight
        }
        try {
            Outcome outcome = Outcome.NOTHING;
            for (HardwareQueue queue : queues) {
                if (queue.isBusy()) {
                    queue.look();
                    outcome = Outcome.BUSY;
                } else if (queue.isMoving()) {
                    outcome = Outcome.BUSY; // a thread sleeping now would have to be woken by the other thread
                }
            }
            return outcome;
        } catch (RuntimeException | Error e) { // perhaps only this thread has met it: its stack may be deep
            failed.accept(e);
            return Outcome.NOTHING;
        } finally {
            work.exit();
        }
    }

    @Override
    public long spinNanos() {
        return SPIN_NANOS;
    }
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.async.WaitHelper;
import io.github.iree4j.lifetime.UseGuard;
import java.util.List;

/**
 * Lets a thread that waits for a device look for completions by itself for a while: between the hardware's interrupt and
 * the waiting thread, up to two other threads would have to be woken.
 */
final class CompletionHelper implements WaitHelper {
    /**
     * Longer than a notice through all threads takes: 40 to 90 microseconds on a virtual machine with an NVIDIA H200, where
     * looking for 30 microseconds missed half of the completions of a single short dispatch.
     */
    private static final long SPIN_NANOS = 100_000;

    private final UseGuard work;
    private final List<HardwareQueue> queues;

    /**
     * Creates a helper.
     *
     * @param work its uses keep the driver open
     * @param queues the device's queues
     */
    CompletionHelper(UseGuard work, List<HardwareQueue> queues) {
        this.work = work;
        this.queues = queues;
    }

    @Override
    public Outcome help() {
        if (!work.tryEnter()) {
            return Outcome.NOTHING; // closed, and nothing in flight
        }
        try {
            Outcome outcome = Outcome.NOTHING;
            for (HardwareQueue queue : queues) {
                if (queue.isBusy()) {
                    if (queue.look() > 0) {
                        return Outcome.WORKED;
                    }
                    outcome = Outcome.BUSY;
                }
            }
            return outcome;
        } catch (RuntimeException | Error e) {
            return Outcome.NOTHING; // the device's own thread meets the failure, too, and reports it
        } finally {
            work.exit();
        }
    }

    @Override
    public long spinNanos() {
        return SPIN_NANOS;
    }
}

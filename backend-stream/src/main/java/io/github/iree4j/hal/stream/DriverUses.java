package io.github.iree4j.hal.stream;

import io.github.iree4j.async.CallThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Frees the driver of a closed device after the last use. Four users remain at the end: the work, the proactor with its
 * waits for the driver, calls by threads that hold nothing else, and slabs being returned. Each user ends once.
 */
final class DriverUses {
    /*
     * STREAM-4: a submission only waking the waiter is no operation, and may be the hardware's last submission. Lanes
     * are therefore closed only once this submission has completed, too.
     *
     * STREAM-10: slabs given up by pools return to the driver before the driver is freed, and close() returns
     * afterwards. Other threads may still be returning slabs chosen before the last operation ended.
     */
    private final AtomicInteger users = new AtomicInteger(4);
    private final CountDownLatch freed = new CountDownLatch(1);
    private final String device;
    private final List<HardwareQueue> hardware;
    private final Runnable free;

    /**
     * Creates the uses of a driver.
     *
     * @param device the id of the device, for the name of a thread
     * @param hardware the queues of the device; must not change any more when the first user ends
     * @param free frees the driver; must not throw
     */
    DriverUses(String device, List<HardwareQueue> hardware, Runnable free) {
        this.device = device;
        this.hardware = hardware;
        this.free = free;
    }

    /** Ends a use of the driver. The last use frees the driver. */
    void end() {
        if (users.decrementAndGet() != 0) {
            return;
        }
        if (hardware.stream().allMatch(HardwareQueue::isOver)) {
            free();
        } else { // the waiter has ended before the completion of a nudge was observed
            CallThreads.forNativeWaits("iree4j-end " + device, () -> {
                        hardware.forEach(HardwareQueue::awaitOver);
                        free();
                    })
                    .start();
        }
    }

    private void free() {
        free.run();
        freed.countDown();
    }

    /** Waits until everything is freed; returns whether everything is. An interrupt is kept for the caller. */
    boolean awaitFreed(Duration limit) {
        boolean interrupted = false;
        long deadline = System.nanoTime() + limit.toNanos();
        try {
            for (; ; ) {
                try {
                    return freed.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true; // the hardware still uses the memory
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}

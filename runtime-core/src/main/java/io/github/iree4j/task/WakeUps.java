package io.github.iree4j.task;

/**
 * Wakes the workers of an executor: as many as wanted, less the spinning workers, which find the work themselves. The
 * signalling thread wakes only a few workers, which wake the others, so that the signalling thread does not pay for all
 * wake-ups.
 */
final class WakeUps {
    private final Worker[] workers; // filled in by the executor
    private final int fanOut;
    private final IdleWorkers idle;
    private final PaddedLong spinners = new PaddedLong();

    /** Number of sleeping workers that woken workers still have to wake. */
    private final PaddedLong desired = new PaddedLong();

    /**
     * Creates the wake-ups for an array filled in later.
     *
     * @param fanOut number of workers woken by each thread
     * @param asleep whether workers start asleep, without threads
     */
    WakeUps(Worker[] workers, int fanOut, boolean asleep) {
        this.workers = workers;
        this.fanOut = fanOut;
        this.idle = new IdleWorkers(workers.length);
        for (int i = 0; asleep && i < workers.length; i++) {
            idle.add(i);
        }
    }

    IdleWorkers idle() {
        return idle;
    }

    PaddedLong spinners() {
        return spinners;
    }

    /** Wakes up to {@code count} workers. */
    void wake(int count) {
        long wanted = count - spinners.getVolatile(); // spinning workers find the work themselves
        for (int woken = 0; woken < fanOut && wanted > 0; woken++, wanted--) {
            int worker = idle.claim();
            if (worker < 0) {
                return; // all workers are awake and will check before sleeping
            }
            if (woken == fanOut - 1 && wanted > 1) {
                desired.getAndAddVolatile(Math.min(wanted - 1, idle.count()));
            }
            workers[worker].wakeUp();
        }
    }

    /** Wakes a woken worker's share of other workers, before the worker looks for work. */
    void relay() {
        for (long wanted; (wanted = desired.getVolatile()) > 0; ) {
            long share = Math.min(wanted, fanOut);
            if (desired.compareAndSetVolatile(wanted, wanted - share)) {
                for (; share > 0; share--) {
                    int worker = idle.claim();
                    if (worker < 0) {
                        return; // drop the rest of the share: no worker sleeps
                    }
                    workers[worker].wakeUp();
                }
                return;
            }
        }
    }

    void wakeAll() {
        for (int worker; (worker = idle.claim()) >= 0; ) {
            workers[worker].wakeUp();
        }
    }
}

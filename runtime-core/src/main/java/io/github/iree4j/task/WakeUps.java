package io.github.iree4j.task;

/**
 * Wakes the workers of an executor: as many as are wanted, less those that spin and find work by themselves. Whoever makes work wakes a few, who wake the
 * others, since whoever signals should not pay for all of them.
 */
final class WakeUps {
    private final Worker[] workers; // filled by the executor
    private final int fanOut;
    private final IdleWorkers idle;
    private final PaddedLong spinners = new PaddedLong();

    /** Sleeping workers that those being woken are to wake. */
    private final PaddedLong desired = new PaddedLong();

    /**
     * For workers that are still to be made.
     *
     * @param fanOut how many each wakes
     * @param asleep whether they sleep at first, having no threads yet
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

    /** Wakes so many workers. */
    void wake(int count) {
        long wanted = count - spinners.getVolatile(); // those find it by themselves
        for (int woken = 0; woken < fanOut && wanted > 0; woken++, wanted--) {
            int worker = idle.claim();
            if (worker < 0) {
                return; // all are awake and will look before they sleep
            }
            if (woken == fanOut - 1 && wanted > 1) {
                desired.getAndAddVolatile(Math.min(wanted - 1, idle.count()));
            }
            workers[worker].wakeUp();
        }
    }

    /** A worker that was woken wakes its share of others before it looks for work itself. */
    void relay() {
        for (long wanted; (wanted = desired.getVolatile()) > 0; ) {
            long share = Math.min(wanted, fanOut);
            if (desired.compareAndSetVolatile(wanted, wanted - share)) {
                for (; share > 0; share--) {
                    int worker = idle.claim();
                    if (worker < 0) {
                        return; // what is left of the share is dropped: nobody sleeps
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

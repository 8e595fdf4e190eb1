package io.github.iree4j.async;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock for a few dozen instructions that neither block nor call anything unknown. Not reentrant.
 *
 * <p>A monitor costs two atomic operations when nobody disturbs it, which is most of what signalling a timeline does; this costs one.
 * Whoever finds it held spins, then sleeps briefly in case the holder was preempted.
 */
final class BriefLock {
    /*
     * LOCK-1: one holder at a time, who sees all that earlier holders wrote (compare-and-set to take it, release to give it back).
     */
    private static final VarHandle HELD;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(BriefLock.class, "held", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Guesses: a critical section is over after a few spins unless its thread lost the processor. */
    private static final int SPINS = 64;

    static final long SLEEP_NANOS = 20_000;

    @SuppressWarnings("unused") // only through HELD
    private int held;

    void lock() {
        if (!HELD.compareAndSet(this, 0, 1)) { // LOCK-1
            lockWhenFree();
        }
    }

    private void lockWhenFree() {
        for (int tries = 0; ; tries++) {
            if ((int) HELD.getOpaque(this) == 0 && HELD.compareAndSet(this, 0, 1)) {
                return;
            }
            if (tries < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, SLEEP_NANOS);
            }
        }
    }

    void unlock() {
        HELD.setRelease(this, 0);
    }
}

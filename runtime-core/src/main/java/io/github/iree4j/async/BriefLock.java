package io.github.iree4j.async;

import io.github.iree4j.lifetime.Resource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A resource with a lock for critical sections of a few dozen instructions without blocking or foreign calls. Not
 * reentrant.
 *
 * <p>An uncontended monitor costs two atomic operations, most of the cost of signalling a timeline; this lock costs a
 * single atomic operation. A contending thread spins, then sleeps briefly in case the holder was preempted.
 */
abstract class BriefLock extends Resource {
    /*
     * LOCK-1: a single holder at a time sees all writes of earlier holders (compare-and-set to acquire, releasing store
     * to release).
     */
    private static final VarHandle HELD;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(BriefLock.class, "held", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Guesses: a critical section ends within a few spins unless its thread was preempted. */
    private static final int SPINS = 64;

    static final long SLEEP_NANOS = 20_000;

    @SuppressWarnings("unused") // only through HELD
    private int held;

    final void lock() {
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

    final void unlock() {
        HELD.setRelease(this, 0);
    }
}

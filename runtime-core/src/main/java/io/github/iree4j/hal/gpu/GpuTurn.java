package io.github.iree4j.hal.gpu;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Has one thread at a time do what any of several ask for, without a lock: who asks while another thread is at it leaves it to that one, and goes
 * on.
 */
final class GpuTurn {
    private final AtomicInteger asked = new AtomicInteger();
    private int seen; // of the thread that is at it; the counter hands it on

    /** Asks; returns whether the caller is to do it, now and as long as {@link #again}. */
    boolean ask() {
        if (asked.getAndIncrement() != 0) {
            return false;
        }
        seen = 1;
        return true;
    }

    /** Whether anyone has asked since; ends the turn when not. */
    boolean again() {
        int more = asked.addAndGet(-seen); // GPU-1: at 0 the next who asks is at it
        if (more == 0) {
            return false;
        }
        seen = more;
        return true;
    }
}

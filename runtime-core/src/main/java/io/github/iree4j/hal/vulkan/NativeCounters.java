package io.github.iree4j.hal.vulkan;

import java.util.concurrent.atomic.LongAdder;

/** What was done natively for executions of a command buffer. */
final class NativeCounters {
    private final LongAdder made = new LongAdder();
    private final LongAdder recorded = new LongAdder();
    private final LongAdder rebound = new LongAdder();
    private final LongAdder reused = new LongAdder();

    void made() {
        made.increment();
    }

    void recorded() {
        recorded.increment();
    }

    void rebound() {
        rebound.increment();
    }

    void reused() {
        reused.increment();
    }

    /** Native forms that were made. */
    long madeCount() {
        return made.sum();
    }

    /** Executions for which the driver recorded commands. */
    long recordedCount() {
        return recorded.sum();
    }

    /** Executions for which only descriptors or addresses were written. */
    long reboundCount() {
        return rebound.sum();
    }

    /** Executions for which nothing had to be done. */
    long reusedCount() {
        return reused.sum();
    }
}

package io.github.iree4j.hal.vulkan;

import java.util.concurrent.atomic.LongAdder;

/** Counts of native work for executions of command buffers. */
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

    /** Native forms created. */
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

    /** Executions without native work. */
    long reusedCount() {
        return reused.sum();
    }
}

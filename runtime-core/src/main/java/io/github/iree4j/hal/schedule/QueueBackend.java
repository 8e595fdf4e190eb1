package io.github.iree4j.hal.schedule;

import java.util.concurrent.Executor;

/**
 * Hardware behind one queue: a {@link FifoBackend} is a stream, an {@link UnorderedBackend} runs each operation at
 * once. Implemented by backends and called by the {@link QueueScheduler}. The scheduler alone decides the order; a
 * backend never does.
 */
public sealed interface QueueBackend permits FifoBackend, UnorderedBackend {
    /** Runs tasks on the calling thread: for backends without long calls, such as virtual backends. */
    Executor SAME_THREAD = Runnable::run;

    /**
     * Returns the executor for work that a signal releases and that may take longer than some microseconds: giving
     * operations to a driver, allocating memory, resuming very many operations. The executor keeps this work from
     * delaying the signalling thread.
     *
     * @return an executor that runs tasks soon and in order; {@link #SAME_THREAD} where nothing takes long
     */
    default Executor wakeExecutor() {
        return SAME_THREAD;
    }
}

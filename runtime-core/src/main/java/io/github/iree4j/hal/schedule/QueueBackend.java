package io.github.iree4j.hal.schedule;

import java.util.concurrent.Executor;

/**
 * What the hardware behind one queue can do: a {@link FifoBackend} is a stream, an {@link UnorderedBackend} runs what it gets at once.
 * Implemented by backends, called by the {@link QueueScheduler}, which alone decides about order; a backend never does.
 */
public sealed interface QueueBackend permits FifoBackend, UnorderedBackend {
    /** Runs what it is given on the calling thread: of backends that never take long, such as virtual ones. */
    Executor SAME_THREAD = Runnable::run;

    /**
     * Returns where that is done for operations that a signal has set free which may take longer than some microseconds: giving them to a
     * driver, getting new memory, resuming very many. The thread that signals is not held up by it.
     *
     * @return runs what it is given, soon and in that order; {@link #SAME_THREAD} where nothing takes long
     */
    default Executor wakeExecutor() {
        return SAME_THREAD;
    }
}

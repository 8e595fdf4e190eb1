package io.github.iree4j.hal;

import java.util.concurrent.Executor;

/**
 * What the hardware behind one queue can do: a {@link FifoBackend} is a stream, an {@link UnorderedBackend} runs what it gets at once.
 * Implemented by backends, called by the {@link QueueScheduler}, which alone decides about order; a backend never does.
 */
public sealed interface QueueBackend permits FifoBackend, UnorderedBackend {

    /**
     * Returns where that is done for operations that a signal has set free which may take longer than some microseconds: giving them to a
     * driver, getting new memory. Whoever signals is not held up by it.
     *
     * @return runs what it is given, soon; on the calling thread where nothing takes long
     */
    default Executor wakeExecutor() {
        return Runnable::run;
    }
}

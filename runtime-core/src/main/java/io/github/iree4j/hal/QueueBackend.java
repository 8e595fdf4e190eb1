package io.github.iree4j.hal;

/**
 * What the hardware behind one queue can do: a {@link FifoBackend} is a stream, an {@link UnorderedBackend} runs what it gets at once.
 * Implemented by backends, called by the {@link QueueScheduler}, which alone decides about order; a backend never does.
 */
public sealed interface QueueBackend permits FifoBackend, UnorderedBackend {

    /**
     * Starts an operation, or puts it on the stream. Its end is reported with {@link QueueScheduler#completed}, once. When this throws,
     * the operation has failed with that, and its end is not reported.
     *
     * @param operation one that was submitted to this backend's scheduler
     */
    void issue(QueueOperation operation);
}

package io.github.iree4j.hal;

/**
 * Hardware that runs each operation as soon as it gets it, beside all others, like workers that share a list. An operation has its epoch
 * when it completes, and runs after what it waited for and nothing else.
 *
 * <p>{@link #issue} is called from several threads at once and with no lock held; it may complete the operation before it returns.
 */
public non-sealed interface UnorderedBackend extends QueueBackend {

    /**
     * Returns whether {@link #issue} always completes the operation before it returns, so that nothing need be kept for it.
     *
     * @return false unless a backend runs everything on the submitting thread
     */
    default boolean completesInline() {
        return false;
    }
}

package io.github.iree4j.vm;

/**
 * Limits on the resources of programs in a context. Exceeding a limit fails the call with RESOURCE_EXHAUSTED.
 *
 * @param maxCallDepth most frames of an invocation
 * @param maxStackWords most registers of an invocation, both banks together
 * @param maxMemory most bytes of buffers and lists that programs have allocated and still hold, per module; each object
 *     counts 128 bytes in addition to the contents
 */
public record ContextOptions(int maxCallDepth, int maxStackWords, long maxMemory) {
    /** 4096 frames, a million registers, 64 MiB. */
    public static final ContextOptions DEFAULTS = new ContextOptions(4096, 1 << 20, 64L << 20);

    /**
     * Checks the limits.
     *
     * @param maxCallDepth at least 1
     * @param maxStackWords at least 1
     * @param maxMemory at least 0
     */
    public ContextOptions {
        if (maxCallDepth < 1 || maxStackWords < 1 || maxMemory < 0) {
            throw new IllegalArgumentException("limits must be positive: call depth %d, stack words %d, memory %d"
                    .formatted(maxCallDepth, maxStackWords, maxMemory));
        }
    }

    /**
     * Returns these options with another limit on memory.
     *
     * @param bytes most bytes of buffers and lists that programs have allocated and still hold
     * @return the new options
     */
    public ContextOptions withMaxMemory(long bytes) {
        return new ContextOptions(maxCallDepth, maxStackWords, bytes);
    }
}

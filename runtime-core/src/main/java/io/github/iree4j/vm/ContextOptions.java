package io.github.iree4j.vm;

/**
 * Limits on the resources of programs in a context. Exceeding a limit fails the call with RESOURCE_EXHAUSTED.
 * Immutable: each method with a parameter returns changed options.
 */
public final class ContextOptions {
    /** 4096 frames, a million registers, 64 MiB. */
    public static final ContextOptions DEFAULTS = new ContextOptions(4096, 1 << 20, 64L << 20);

    private final int maxCallDepth;
    private final int maxStackWords;
    private final long maxMemory;

    private ContextOptions(int maxCallDepth, int maxStackWords, long maxMemory) {
        if (maxCallDepth < 1 || maxStackWords < 1 || maxMemory < 0) {
            throw new IllegalArgumentException("limits must be positive: call depth %d, stack words %d, memory %d"
                    .formatted(maxCallDepth, maxStackWords, maxMemory));
        }
        this.maxCallDepth = maxCallDepth;
        this.maxStackWords = maxStackWords;
        this.maxMemory = maxMemory;
    }

    /**
     * Returns these options with another limit on frames.
     *
     * @param frames most frames of an invocation, at least 1
     * @return the options
     */
    public ContextOptions maxCallDepth(int frames) {
        return new ContextOptions(frames, maxStackWords, maxMemory);
    }

    /**
     * Returns these options with another limit on registers.
     *
     * @param words most registers of an invocation, both banks together, at least 1
     * @return the options
     */
    public ContextOptions maxStackWords(int words) {
        return new ContextOptions(maxCallDepth, words, maxMemory);
    }

    /**
     * Returns these options with another limit on memory.
     *
     * @param bytes most bytes of buffers and lists that programs have allocated and still hold, per module; each object
     *     counts 128 bytes in addition to the contents; at least 0
     * @return the options
     */
    public ContextOptions maxMemory(long bytes) {
        return new ContextOptions(maxCallDepth, maxStackWords, bytes);
    }

    /**
     * Returns the limit on frames.
     *
     * @return most frames of an invocation
     */
    public int maxCallDepth() {
        return maxCallDepth;
    }

    /**
     * Returns the limit on registers.
     *
     * @return most registers of an invocation, both banks together
     */
    public int maxStackWords() {
        return maxStackWords;
    }

    /**
     * Returns the limit on memory.
     *
     * @return most bytes of buffers and lists held, per module
     */
    public long maxMemory() {
        return maxMemory;
    }
}

package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferCommands;
import io.github.iree4j.nativeaccess.vulkan.VulkanCommands;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A native command buffer with encoder and scratch memory. A single thread at a time; recorded again only while no
 * hardware runs the commands.
 */
final class NativeCommands implements DriverCommands, TransferCommands {
    private final VulkanEncoder pool;
    private final VulkanCommands commands;
    private final int family;
    private final CommandEncoder encoder = new CommandEncoder(this::scratch);
    private @Nullable StreamStorage scratch;

    NativeCommands(VulkanEncoder pool, VulkanCommands commands, int family) {
        this.pool = pool;
        this.commands = commands;
        this.family = family;
    }

    int family() {
        return family;
    }

    /** Returns the encoder of the commands, to be recorded by {@link #record}. */
    CommandEncoder encoder() {
        return encoder;
    }

    private StreamStorage scratch() {
        StreamStorage own = scratch;
        if (own == null) {
            own = pool.scratch();
            scratch = own;
        }
        return own;
    }

    @Override
    public void fill(StreamStorage target, long offset, long length, long pattern, int patternLength) {
        encoder.fill(target, offset, length, pattern, patternLength);
    }

    @Override
    public void copy(StreamStorage source, long sourceOffset, StreamStorage target, long targetOffset, long length) {
        encoder.copy(source, sourceOffset, target, targetOffset, length);
    }

    @Override
    public DriverCommands finish(String operation) {
        encoder.endVisibleToHost();
        record(operation);
        return this;
    }

    /**
     * Records the commands of the encoder.
     *
     * @param operation the operation's name, for messages
     */
    void record(String operation) {
        try {
            commands.record(encoder.words(), encoder.count());
        } finally {
            pool.messages().look("recording", operation);
        }
    }

    /** Changes the bindings of a recorded dispatch; as {@link VulkanCommands#bind}. */
    void bind(String operation, int dispatch, MemorySegment words) {
        try {
            commands.bind(dispatch, words);
        } finally {
            pool.messages().look("binding buffers of", operation);
        }
    }

    /** Returns the native commands. */
    VulkanCommands commands() {
        return commands;
    }

    /** Returns lent commands. No hardware runs the commands. */
    @Override
    public void release() {
        encoder.clear();
        pool.giveBack(this);
    }

    /** Frees all resources. No hardware runs the commands. */
    void close() {
        encoder.clear();
        if (scratch != null) {
            pool.giveBackScratch(scratch);
            scratch = null;
        }
        commands.close();
    }
}

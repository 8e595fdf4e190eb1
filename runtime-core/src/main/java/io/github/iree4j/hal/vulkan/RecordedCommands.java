package io.github.iree4j.hal.vulkan;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.nativeaccess.VulkanCommands;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A native command buffer, what writes it, and the memory that its commands use beside buffers of users. One thread at a time; recorded
 * anew only while no hardware runs it.
 */
final class RecordedCommands {
    private final CommandsPool pool;
    private final VulkanCommands commands;
    private final int family;
    private final CommandEncoder encoder = new CommandEncoder(this::scratch);
    private final List<VulkanStorage> uploads = new ArrayList<>(0); // what the recorded commands copy from
    private @Nullable VulkanStorage scratch;

    RecordedCommands(CommandsPool pool, VulkanCommands commands, int family) {
        this.pool = pool;
        this.commands = commands;
        this.family = family;
    }

    int family() {
        return family;
    }

    /** Returns what writes the commands, which {@link #record} then records. */
    CommandEncoder encoder() {
        return encoder;
    }

    private VulkanStorage scratch() {
        VulkanStorage own = scratch;
        if (own == null) {
            own = pool.scratch();
            scratch = own;
        }
        return own;
    }

    /**
     * Makes bytes of the host available to commands, for as long as those are recorded here.
     *
     * @param bytes what {@link CommandEncoder#copy} is to read
     * @return where they are
     */
    VulkanStorage upload(MemorySegment bytes) {
        VulkanStorage storage = pool.upload(bytes.byteSize());
        uploads.add(storage);
        storage.mapped().copyFrom(bytes);
        return storage;
    }

    /**
     * Records what the encoder has.
     *
     * @param operation what it is for, in messages
     */
    void record(String operation) {
        try {
            commands.record(encoder.words(), encoder.count());
        } finally {
            pool.messages().look("recording", operation);
        }
    }

    /** Gives a dispatch that was recorded other bindings; as {@link VulkanCommands#bind}. */
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

    /** Forgets the commands, to write others. No hardware runs them. */
    void clear() {
        encoder.clear();
        uploads.forEach(upload -> upload.release(Frontier.EMPTY));
        uploads.clear();
    }

    /** Gives commands back that were lent. No hardware runs them. */
    void release() {
        clear();
        pool.giveBack(this);
    }

    /** Frees everything. No hardware runs the commands. */
    void close() {
        clear();
        if (scratch != null) {
            pool.giveBackScratch(scratch);
            scratch = null;
        }
        commands.close();
    }
}

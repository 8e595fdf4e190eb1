package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.VulkanCommands;
import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An operation on buffers whose commands are recorded when it is issued, for one execution. What it names is retained while it is under
 * way, and the storage of that pinned from when it has its place.
 */
abstract class RecordedOperation extends VulkanOperation implements VulkanWork {
    final VulkanDevice device;
    private final int family;
    private final UsedBuffer[] buffers;
    private VulkanStorage[] storages = new VulkanStorage[0]; // of the buffers, once they are pinned
    private int pinned; // of the buffers, the first
    private @Nullable RecordedCommands recorded;

    /**
     * Makes an operation.
     *
     * @param name what it is called in messages
     * @param queue where it is going to run
     * @param buffers what it uses
     */
    RecordedOperation(String name, VulkanQueue queue, UsedBuffer... buffers) {
        super(name);
        this.device = (VulkanDevice) queue.device();
        this.family = queue.family();
        this.buffers = buffers;
    }

    /** Writes the commands; {@link #storage} has what they use. */
    abstract void encode(CommandEncoder encoder);

    /** Whether it is carried out also when nobody can learn of its end any more, since it matters to others than those who wait for it. */
    boolean runsInAnyCase() {
        return false;
    }

    /** Whether there is anything to do for the hardware. */
    abstract boolean isEmpty();

    /** Returns the storage of one of the buffers, once pinned. */
    final VulkanStorage storage(int buffer) {
        return storages[buffer];
    }

    @Override
    protected final void placed() {
        storages = new VulkanStorage[buffers.length];
        for (UsedBuffer buffer : buffers) {
            storages[pinned] = buffer.seenBy(buffer.pin(this), call());
            pinned++;
        }
    }

    @Override
    final @Nullable VulkanWork prepare() {
        IreeException cause = stopCause();
        if (cause != null && !runsInAnyCase()) {
            throw cause;
        }
        if (isEmpty()) {
            return null;
        }
        RecordedCommands commands = device.commands().lease(family);
        try {
            CommandEncoder encoder = commands.encoder();
            encoder.beginAfterAll();
            encode(encoder);
            encoder.endVisibleToHost();
            commands.record(name());
        } catch (RuntimeException | Error e) {
            commands.release();
            throw e;
        }
        recorded = commands;
        return this;
    }

    @Override
    public final VulkanCommands commands() {
        return Objects.requireNonNull(recorded).commands();
    }

    @Override
    public final void over() {
        RecordedCommands commands = recorded;
        if (commands != null) {
            recorded = null;
            commands.release();
        }
    }

    @Override
    protected void retain() {
        int retained = 0;
        try {
            for (UsedBuffer buffer : buffers) {
                buffer.retain();
                retained++;
            }
        } catch (IreeException e) {
            for (int i = 0; i < retained; i++) {
                buffers[i].release();
            }
            throw e;
        }
    }

    @Override
    protected void release() {
        for (; pinned > 0; pinned--) {
            buffers[pinned - 1].unpin(storages[pinned - 1]);
        }
        Arrays.fill(storages, VulkanStorage.NONE);
        for (UsedBuffer buffer : buffers) {
            buffer.release();
        }
    }
}

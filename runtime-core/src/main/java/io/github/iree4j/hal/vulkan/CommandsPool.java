package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.VulkanHandle;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/** Native command buffers for commands that are recorded for one execution, used again and again. Safe from any thread. */
final class CommandsPool {
    /** How many are kept for each family while nobody uses them. A guess, not measured. */
    private static final int KEPT = 64;

    /** Bytes of scratch memory that are taken at once. */
    private static final long SCRATCH_BLOCK = 64 << 10;

    /** Scratch memory of different commands is apart by that much. */
    private static final long PIECE = 256;

    private final VulkanHandle device;
    private final VulkanMemory memory;
    private final ValidationLog messages;
    private final Map<Integer, ArrayDeque<RecordedCommands>> idle =
            new HashMap<>(); // guarded by itself, with the following
    private final ArrayDeque<VulkanSlab> blocks = new ArrayDeque<>(); // of scratch memory
    private final ArrayDeque<VulkanStorage> pieces = new ArrayDeque<>(); // of them, that nobody has
    private boolean closed;

    CommandsPool(VulkanHandle device, VulkanMemory memory, ValidationLog messages) {
        this.messages = messages;
        this.device = device;
        this.memory = memory;
    }

    /**
     * Lends commands without content.
     *
     * @param family the queue family that is to run them
     * @return the commands, to be {@linkplain RecordedCommands#release released} once no hardware runs them
     */
    RecordedCommands lease(int family) {
        synchronized (idle) {
            ArrayDeque<RecordedCommands> kept = idle.get(family);
            RecordedCommands found = kept == null ? null : kept.pollLast();
            if (found != null) {
                return found;
            }
        }
        return create(family);
    }

    /** Makes commands that are never lent: for a command buffer that is executed often. Its owner closes them. */
    RecordedCommands create(int family) {
        return new RecordedCommands(this, device.createCommands(family), family);
    }

    /**
     * Lends memory that patterns are made in. Not of the pools, whose budget is the users'.
     *
     * @return {@link CommandEncoder#SCRATCH} bytes, to be given back with {@link #giveBackScratch}
     */
    VulkanStorage scratch() {
        synchronized (idle) {
            VulkanStorage found = pieces.poll();
            if (found != null) {
                return found;
            }
            MemoryKind kind = memory.kinds().device();
            VulkanSlab block = new VulkanSlab(memory.takeOutside(SCRATCH_BLOCK, kind, 0), SCRATCH_BLOCK, kind);
            blocks.add(block);
            for (long at = PIECE; at < SCRATCH_BLOCK; at += PIECE) {
                pieces.add(piece(block, at));
            }
            return piece(block, 0);
        }
    }

    private static VulkanStorage piece(VulkanSlab block, long at) {
        return new VulkanStorage(null, block.generation(), block.buffer(), at, CommandEncoder.SCRATCH, 0, null);
    }

    void giveBackScratch(VulkanStorage piece) {
        synchronized (idle) {
            pieces.add(piece);
        }
        freeWhenUnused();
    }

    /** Frees the scratch memory of a pool that is closed once nobody has any. */
    private void freeWhenUnused() {
        ArrayDeque<VulkanSlab> unused = new ArrayDeque<>();
        synchronized (idle) {
            if (closed && pieces.size() == blocks.size() * (SCRATCH_BLOCK / PIECE)) {
                unused.addAll(blocks);
                blocks.clear();
                pieces.clear();
            }
        }
        unused.forEach(memory.provider()::release);
    }

    /** What validation says of commands. */
    ValidationLog messages() {
        return messages;
    }

    /** Memory with bytes that commands copy from. */
    VulkanStorage upload(long size) {
        return memory.acquireUpload(size);
    }

    void giveBack(RecordedCommands commands) {
        synchronized (idle) {
            ArrayDeque<RecordedCommands> kept = idle.computeIfAbsent(commands.family(), family -> new ArrayDeque<>());
            if (!closed && kept.size() < KEPT) {
                kept.add(commands);
                return;
            }
        }
        commands.close();
    }

    /** Frees what nobody uses, and later what is given back. */
    void close() {
        ArrayDeque<RecordedCommands> unused = new ArrayDeque<>();
        synchronized (idle) {
            closed = true;
            idle.values().forEach(unused::addAll);
            idle.clear();
        }
        unused.forEach(RecordedCommands::close);
        freeWhenUnused();
    }
}

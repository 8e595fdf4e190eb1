package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.stream.CommandForm;
import io.github.iree4j.hal.stream.DispatchLimits;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.ResolvedBindings;
import io.github.iree4j.hal.stream.StreamEncoder;
import io.github.iree4j.hal.stream.StreamMemory;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferCommands;
import io.github.iree4j.nativeaccess.vulkan.VulkanLimits;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Native command buffers of a device: command buffers for a single execution are pooled, others belong to a
 * {@link VulkanForm}. Safe from any thread.
 */
final class VulkanEncoder implements StreamEncoder {
    /** Flag of a dispatch: the descriptors never change and are recorded with the dispatch. */
    private static final int PUSHED = 1;

    /** Number of command buffers of each family kept for reuse. A guess, not measured. */
    private static final int KEPT = 64;

    /** Size of a scratch allocation, bytes. */
    private static final long SCRATCH_BLOCK = 64 << 10;

    /** Distance between scratch pieces, bytes. */
    private static final long PIECE = 256;

    private final String deviceId;
    private final VulkanCode code;
    private final StreamMemory memory;
    private final DispatchLimits limits;
    private final ValidationLog messages;
    private final NativeCounters counters = new NativeCounters();
    private final Map<Integer, ArrayDeque<NativeCommands>> idle =
            new HashMap<>(); // guarded by this map, like the following fields
    private final ArrayDeque<StreamMemory.Block> blocks = new ArrayDeque<>(); // of scratch memory
    private final ArrayDeque<StreamStorage> pieces = new ArrayDeque<>(); // free pieces of the blocks
    private boolean closed;

    VulkanEncoder(String deviceId, VulkanCode code, StreamMemory memory, ValidationLog messages) {
        this.deviceId = deviceId;
        this.code = code;
        this.memory = memory;
        this.messages = messages;
        VulkanLimits device = code.handle().properties().limits();
        this.limits = new DispatchLimits(
                deviceId,
                device.maxComputeWorkGroupCountX(),
                device.maxComputeWorkGroupCountY(),
                device.maxComputeWorkGroupCountZ());
    }

    /** Returns whether the descriptors of a dispatch are recorded with the dispatch. */
    static boolean isPushed(Recording recording, int at) {
        return (recording.flags(at) & PUSHED) != 0;
    }

    VulkanCode code() {
        return code;
    }

    /** Returns the counters of native work so far. */
    NativeCounters counters() {
        return counters;
    }

    /** Returns the log of validation messages. */
    ValidationLog messages() {
        return messages;
    }

    /** Allocates memory for bytes read by commands. */
    StreamStorage upload(long size) {
        return memory.upload(size);
    }

    // ---- Recordings.

    @Override
    public void checkDispatch(
            Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount) {
        if (!(executable instanceof VulkanExecutable own) || !own.isOf(code)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "executable of format '%s' was not created by device '%s'"
                            .formatted(executable.format(), deviceId));
        }
        limits.check(own.export(export), config, workgroupCount);
    }

    /** Records unchanging descriptors; other descriptors are in sets, changed without re-recording. */
    @Override
    public int flags(Executable executable, int export, boolean fixed) {
        VulkanKernel kernel = ((VulkanExecutable) executable).kernel(export);
        if (kernel.addresses() != null || !kernel.canPush() || !fixed) {
            return 0;
        }
        kernel.pushing(); // compile now, not under a queue's lock
        return PUSHED;
    }

    @Override
    public CommandForm form(
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates,
            Lane lane,
            boolean oneShot) {
        counters.made();
        NativeCommands commands = oneShot ? lease(lane) : create(lane.family());
        return new VulkanForm(this, recording, bindings, updates, commands, oneShot);
    }

    // ---- Command buffers.

    @Override
    public TransferCommands transfers(Lane lane) {
        NativeCommands commands = lease(lane);
        commands.encoder().beginAfterAll();
        return commands;
    }

    private NativeCommands lease(Lane lane) {
        synchronized (idle) {
            ArrayDeque<NativeCommands> kept = idle.get(lane.family());
            NativeCommands found = kept == null ? null : kept.pollLast();
            if (found != null) {
                return found;
            }
        }
        return create(lane.family());
    }

    private NativeCommands create(int family) {
        return new NativeCommands(this, code.handle().createCommands(family), family);
    }

    void giveBack(NativeCommands commands) {
        synchronized (idle) {
            ArrayDeque<NativeCommands> kept = idle.computeIfAbsent(commands.family(), family -> new ArrayDeque<>());
            if (!closed && kept.size() < KEPT) {
                kept.add(commands);
                return;
            }
        }
        commands.close();
    }

    // ---- Scratch memory.

    /**
     * Lends memory for patterns. Not from the pools: the budget of the pools belongs to the users.
     *
     * @return {@link CommandEncoder#SCRATCH} bytes, to be returned with {@link #giveBackScratch}
     */
    StreamStorage scratch() {
        synchronized (idle) {
            StreamStorage found = pieces.poll();
            if (found != null) {
                return found;
            }
            StreamMemory.Block block =
                    memory.takeBlock(SCRATCH_BLOCK, memory.kinds().device());
            blocks.add(block);
            for (long at = PIECE; at < SCRATCH_BLOCK; at += PIECE) {
                pieces.add(block.storage().part(at, CommandEncoder.SCRATCH));
            }
            return block.storage().part(0, CommandEncoder.SCRATCH);
        }
    }

    void giveBackScratch(StreamStorage piece) {
        synchronized (idle) {
            pieces.add(piece);
        }
        freeWhenUnused();
    }

    /** Frees the scratch memory once this encoder is closed and all scratch memory has been returned. */
    private void freeWhenUnused() {
        ArrayDeque<StreamMemory.Block> unused = new ArrayDeque<>();
        synchronized (idle) {
            if (closed && pieces.size() == blocks.size() * (SCRATCH_BLOCK / PIECE)) {
                unused.addAll(blocks);
                blocks.clear();
                pieces.clear();
            }
        }
        unused.forEach(block -> block.giveBack().run());
    }

    @Override
    public void close() {
        ArrayDeque<NativeCommands> unused = new ArrayDeque<>();
        synchronized (idle) {
            closed = true;
            idle.values().forEach(unused::addAll);
            idle.clear();
        }
        unused.forEach(NativeCommands::close);
        freeWhenUnused();
    }
}

package io.github.iree4j.hal.gpu;

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
import io.github.iree4j.nativeaccess.gpu.GpuProperties;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes commands of recordings. Safe from any thread. */
final class GpuEncoder implements StreamEncoder {
    /**
     * Number of command lists kept: making a list's native memory takes a fifth of a caller's time for a dispatch. A
     * guess.
     */
    private static final int KEPT = 64;

    /** Maximum native memory of a kept command list, bytes: some hundred commands. A guess. */
    private static final long KEPT_BYTES = 64 << 10;

    /** Memory for the workgroup counts of the indirect dispatches of a command buffer, unless more is needed. */
    private static final long COUNTS_BYTES = 256;

    private final GpuHardware hardware;
    private final StreamMemory memory;
    private final DispatchLimits limits;
    private final ArrayDeque<GpuCommands> idle = new ArrayDeque<>(); // guarded by itself, like the next two fields
    private final ArrayDeque<StreamMemory.Block> idleCounts = new ArrayDeque<>();
    private boolean closed;

    GpuEncoder(GpuHardware hardware, StreamMemory memory) {
        this.hardware = hardware;
        this.memory = memory;
        GpuProperties properties = hardware.device().properties();
        this.limits =
                new DispatchLimits(hardware.id(), properties.maxGridX(), properties.maxGridY(), properties.maxGridZ());
    }

    GpuHardware hardware() {
        return hardware;
    }

    /** Lends memory written by commands and read by the host, for {@link #giveBackCounts}. */
    StreamMemory.Block takeCounts(long size) {
        if (size <= COUNTS_BYTES) {
            synchronized (idle) {
                StreamMemory.Block found = idleCounts.pollLast();
                if (found != null) {
                    return found;
                }
            }
        }
        return memory.takeBlock(Math.max(size, COUNTS_BYTES), memory.kinds().readback());
    }

    /** Takes memory for counts back: drivers take long to allocate memory of the host, and wait for all streams before freeing such memory. */
    void giveBackCounts(StreamMemory.Block block) {
        if (block.storage().length() == COUNTS_BYTES) {
            synchronized (idle) {
                if (!closed && idleCounts.size() < KEPT) {
                    idleCounts.add(block);
                    return;
                }
            }
        }
        block.giveBack().run();
    }

    @Override
    public TransferCommands transfers(Lane lane) {
        return take();
    }

    /** Lends an empty command list, for {@link #giveBack(GpuCommands)}. */
    GpuCommands take() {
        synchronized (idle) {
            GpuCommands found = idle.pollLast();
            if (found != null) {
                return found;
            }
        }
        return new GpuCommands(this);
    }

    /** Returns the number of bytes, from an address of host memory, for the driver to fill or copy at once. */
    long together(long address, long length) {
        return hardware.registrations().together(address, length);
    }

    void giveBack(GpuCommands commands) {
        commands.clear();
        synchronized (idle) {
            if (idle.size() < KEPT && commands.words().capacity() <= KEPT_BYTES) {
                idle.add(commands);
            }
        }
    }

    @Override
    public void checkDispatch(
            Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount) {
        if (!(executable instanceof GpuExecutable own) || !own.isOf(hardware)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "executable of format '%s' was not created by device '%s'"
                            .formatted(executable.format(), hardware.id()));
        }
        limits.check(own.export(export), config, workgroupCount);
    }

    /** Returns the limits of a dispatch. */
    DispatchLimits limits() {
        return limits;
    }

    @Override
    public CommandForm form(
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates,
            Lane lane,
            boolean oneShot) {
        return new GpuForm(this, recording, bindings, updates, oneShot);
    }

    @Override
    public void close() {
        List<StreamMemory.Block> counts;
        synchronized (idle) {
            closed = true;
            idle.clear();
            counts = List.copyOf(idleCounts);
            idleCounts.clear();
        }
        counts.forEach(each -> each.giveBack().run());
    }
}

package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.stream.CommandForm;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.ResolvedBindings;
import io.github.iree4j.hal.stream.StreamEncoder;
import io.github.iree4j.hal.stream.StreamMemory;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferCommands;
import io.github.iree4j.nativeaccess.GpuProperties;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes commands of recordings. Safe from any thread. */
final class GpuEncoder implements StreamEncoder {
    /** Lists of commands that are kept for the next transfers. A guess, not measured. */
    private static final int KEPT = 64;

    /** Memory for the workgroup counts of the indirect dispatches of a command buffer, if it has no more. */
    private static final long COUNTS_BYTES = 256;

    private final GpuHardware hardware;
    private final StreamMemory memory;
    private final ArrayDeque<GpuCommands> idle = new ArrayDeque<>(); // guarded by itself, like the next two
    private final ArrayDeque<StreamMemory.Block> idleCounts = new ArrayDeque<>();
    private boolean closed;

    GpuEncoder(GpuHardware hardware, StreamMemory memory) {
        this.hardware = hardware;
        this.memory = memory;
    }

    GpuHardware hardware() {
        return hardware;
    }

    /** Lends memory that commands write and the host reads, for {@link #giveBackCounts}. */
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

    /** Takes such memory back: drivers take long to allocate memory of the host, and wait for all streams to free it. */
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
        synchronized (idle) {
            GpuCommands found = idle.pollLast();
            if (found != null) {
                return found;
            }
        }
        return new GpuCommands(this);
    }

    /** How many bytes from an address of memory of the host the driver fills or copies at once. */
    long together(long address, long length) {
        return hardware.registrations().together(address, length);
    }

    void giveBack(GpuCommands commands) {
        commands.clear();
        synchronized (idle) {
            if (idle.size() < KEPT) {
                idle.add(commands);
            }
        }
    }

    @Override
    public void checkDispatch(
            Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount) {
        if (!(executable instanceof GpuExecutable own) || !own.isOf(hardware)) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "executable of format '%s' was not created by device '%s'"
                            .formatted(executable.format(), hardware.id()));
        }
        ExecutableExport entry = own.export(export);
        checkConfig(entry, config);
        if (workgroupCount == null) {
            checkCounts(entry, config.workgroupCountX(), config.workgroupCountY(), config.workgroupCountZ());
        } else if (workgroupCount.offset() % 4 != 0
                || workgroupCount.buffer() != null && workgroupCount.buffer().offset() % 4 != 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "workgroup counts of dispatch '%s' at offset %d are not aligned to 4 bytes"
                            .formatted(entry.name(), workgroupCount.offset()));
        }
    }

    private static void checkConfig(ExecutableExport entry, DispatchConfig config) {
        if (config.dynamicLocalMemory() != 0) {
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED,
                    "dispatch '%s' asks for %s bytes of local memory; kernels declare theirs"
                            .formatted(entry.name(), Integer.toUnsignedString(config.dynamicLocalMemory())));
        }
        if (differs(config.workgroupSizeX(), entry.workgroupSizeX())
                || differs(config.workgroupSizeY(), entry.workgroupSizeY())
                || differs(config.workgroupSizeZ(), entry.workgroupSizeZ())) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "dispatch '%s' asks for workgroups of %sx%sx%s, it was compiled for %dx%dx%d"
                            .formatted(
                                    entry.name(),
                                    Integer.toUnsignedString(config.workgroupSizeX()),
                                    Integer.toUnsignedString(config.workgroupSizeY()),
                                    Integer.toUnsignedString(config.workgroupSizeZ()),
                                    entry.workgroupSizeX(),
                                    entry.workgroupSizeY(),
                                    entry.workgroupSizeZ()));
        }
    }

    private static boolean differs(int wanted, int compiled) {
        return wanted != 0 && wanted != compiled;
    }

    /**
     * Checks the workgroup counts of a dispatch.
     *
     * @throws IreeException OUT_OF_RANGE naming the count and the limit
     */
    void checkCounts(ExecutableExport entry, int x, int y, int z) {
        GpuProperties limits = hardware.device().properties();
        checkCount(entry, "x", x, limits.maxGridX());
        checkCount(entry, "y", y, limits.maxGridY());
        checkCount(entry, "z", z, limits.maxGridZ());
    }

    private void checkCount(ExecutableExport entry, String dimension, int count, int limit) {
        if (Integer.toUnsignedLong(count) > limit) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "workgroup count %s of dispatch '%s' is %s, the limit is %d of device '%s'"
                            .formatted(dimension, entry.name(), Integer.toUnsignedString(count), limit, hardware.id()));
        }
    }

    @Override
    public boolean mayWrite(Executable executable, int export, int binding) {
        return ((GpuExecutable) executable).kernel(export).mayWrite(binding);
    }

    @Override
    public CommandForm form(
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates,
            Lane lane,
            boolean oneShot) {
        return new GpuForm(this, recording, bindings, updates);
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

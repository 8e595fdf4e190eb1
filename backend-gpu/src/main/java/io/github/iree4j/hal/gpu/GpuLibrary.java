package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.stream.CollectiveCall;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.StreamCollectives;
import io.github.iree4j.hal.stream.StreamDriver;
import io.github.iree4j.nativeaccess.gpu.GpuCollectives;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/** Collectives of NCCL or RCCL. */
final class GpuLibrary extends StreamCollectives {
    /** By element type of {@link Collective}; 16-bit integers are moved as floats. */
    private static final int[] TYPES = {0, 1, 6, 6, 2, 3, 4, 5, 6, 7, 8, 9};

    /** By reduction of {@link Collective}. */
    private static final int[] REDUCTIONS = {0, 0, 1, 3, 2, 4};

    private final GpuCollectives library;
    private final String name;

    GpuLibrary(GpuCollectives library, String name) {
        super(name);
        this.library = library;
        this.name = name;
    }

    private static GpuHardware hardware(StreamDriver device) {
        return (GpuHardware) device;
    }

    private static GpuDevice device(StreamDriver device) {
        return hardware(device).device();
    }

    @Override
    protected String createId() {
        return library.createId();
    }

    @Override
    protected boolean isId(String text) {
        return text.length() == GpuCollectives.ID_LENGTH;
    }

    @Override
    protected void check(Collective operation) {
        int type = operation.elementType();
        if (operation.reduction() != Collective.NONE && (type == Collective.S16 || type == Collective.U16)) {
            throw lacks(operation, "no reductions of 16-bit integers; convert them to 32 bits");
        }
        if (operation.reduction() == Collective.AVERAGE && type < Collective.F16) {
            throw lacks(operation, "no average of integers that cannot overflow; divide the sum");
        }
    }

    private IreeException lacks(Collective operation, String what) {
        return IreeException.of(
                StatusCode.UNIMPLEMENTED, "%s: the collectives of %s have %s".formatted(operation, name, what));
    }

    @Override
    protected Lane openLane(StreamDriver device) {
        return hardware(device).openLane();
    }

    @Override
    protected void closeLane(StreamDriver device, Lane lane) {
        hardware(device).closeLane((GpuLane) lane);
    }

    @Override
    protected long join(StreamDriver device, String id, int rank, int count) {
        return library.join(device(device), id, rank, count);
    }

    @Override
    protected boolean isPending(StreamDriver device, long communicator) {
        return library.isPending(device(device), communicator);
    }

    @Override
    protected void leave(StreamDriver device, long communicator) {
        library.leave(device(device), communicator);
    }

    @Override
    protected void end(StreamDriver device, long communicator, boolean aborts) {
        library.end(device(device), communicator, aborts);
    }

    @Override
    protected void run(List<CollectiveCall> calls) {
        long[] words = new long[calls.size() * GpuCollectives.CALL_WORDS];
        int at = 0;
        for (CollectiveCall call : calls) {
            Collective operation = call.operation();
            boolean exchanges = operation.kind() == Collective.ALL_TO_ALL;
            long elements = exchanges ? call.elementCount() / call.count() : call.elementCount();
            long root = exchanges ? call.count() : call.parameter();
            words[at] = device(call.device()).address();
            words[at + 1] = call.communicator();
            words[at + 2] = ((GpuLane) call.lane()).stream();
            words[at + 3] = root << Integer.SIZE | operation.kind();
            words[at + 4] = (long) REDUCTIONS[operation.reduction()] << Integer.SIZE | TYPES[operation.elementType()];
            words[at + 5] = elements;
            // Only the root of a broadcast sends, and in place; only the root of a reduction receives.
            words[at + 6] = call.source() == 0 ? call.target() : call.source();
            words[at + 7] = call.target() == 0 ? call.source() : call.target();
            words[at + 8] = elements * operation.elementSize();
            at += GpuCollectives.CALL_WORDS;
        }
        library.run(words);
    }
}

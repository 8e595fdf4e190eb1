package io.github.iree4j.hal.local;

import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.loader.HostDispatch;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * State of a thread running commands: the current command, resolved, and memory for workgroups. Used by a single thread at a
 * time. Allocates nothing per command.
 */
final class TileRunner implements HostDispatch {
    private static final long PAGE = 4096;

    /** Limit of an export's declaration: 65535 pages. */
    private static final long LOCAL_MEMORY_LIMIT = 65535 * PAGE;

    private static final long[] NO_CODE = new long[0];
    private static final int NONE = -1;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Number of short runs per timed run. A power of two. */
    private static final int TIMED_RUNS = 16;

    final int index;
    private final int maxConcurrency;
    private @Nullable Arena localArena;
    private MemorySegment localStorage = MemorySegment.NULL;
    private MemorySegment local = MemorySegment.NULL;
    private int runs;

    // The command.
    private int entered = NONE; // number of the command
    private int opcode;
    private long[] code = NO_CODE;
    private HostMemory.Block target = HostMemory.Block.NONE; // of transfers
    private long targetOffset;
    private HostMemory.Block source = HostMemory.Block.NONE; // of copies
    private MemorySegment sourceBytes = MemorySegment.NULL; // of copies and updates
    private long sourceOffset;
    private long pattern;

    // The dispatch.
    private @Nullable LocalExecutable program;
    private @Nullable PinnedBuffers pinned;
    private int export;
    private long sequence;
    private int sizeX;
    private int sizeY;
    private int sizeZ;
    private int countX;
    private int countY;
    private int countZ;
    private int constantsAt;
    private int constantCount;
    private int bindingCount;
    private final MemorySegment[] segments = new MemorySegment[CommandBuffer.MAXIMUM_BINDINGS];
    private final long[] offsets = new long[segments.length];
    private final long[] lengths = new long[segments.length];

    /** Creates a worker of the {@code maxConcurrency} workers that may run the workgroups of a dispatch. */
    TileRunner(int index, int maxConcurrency) {
        this.index = index;
        this.maxConcurrency = maxConcurrency;
        Arrays.fill(segments, MemorySegment.NULL);
    }

    /**
     * Enters a command of a region, unless already entered. Call {@link #leave} before another region.
     *
     * @param number place of the command in the region
     * @throws IreeException when none of the command's tiles can run
     */
    void enter(Recording recording, PinnedBuffers pins, Region region, int number) {
        if (number == entered) {
            return;
        }
        entered = NONE;
        int at = region.at[number];
        code = recording.code();
        opcode = (int) code[at];
        switch (opcode) {
            case Recording.FILL -> {
                target(pins, at + 1);
                pattern = code[at + 4];
            }
            case Recording.UPDATE -> {
                target(pins, at + 1);
                sourceBytes = recording.updates();
                sourceOffset = code[at + 4];
            }
            case Recording.COPY -> enterCopy(pins, at, region.units[number]);
            case Recording.DISPATCH, Recording.INDIRECT -> {
                countX = region.x[number];
                countY = region.y[number];
                countZ = region.z[number];
                enterDispatch(recording, pins, at);
            }
            default -> throw IreeException.of(StatusCode.INTERNAL, "command buffer holds opcode " + opcode);
        }
        entered = number;
    }

    private void target(PinnedBuffers pins, int range) {
        target = pins.block(code, range);
        targetOffset = pins.offset(code, range);
    }

    private void enterCopy(PinnedBuffers pins, int at, long bytes) {
        source = pins.block(code, at + 1);
        sourceBytes = source.segment;
        sourceOffset = pins.offset(code, at + 1);
        target(pins, at + 1 + Recording.RANGE_WORDS);
        long room = pins.length(code, at + 1 + Recording.RANGE_WORDS);
        if (room < bytes) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "copy of " + bytes + " bytes does not fit its target of " + room + " bytes");
        }
        if (source.address + sourceOffset < target.address + targetOffset + bytes
                && target.address + targetOffset < source.address + sourceOffset + bytes) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "copy source and target of " + bytes + " bytes overlap; copy through another buffer");
        }
    }

    private void enterDispatch(Recording recording, PinnedBuffers pins, int at) {
        LocalExecutable executable = LocalExecutable.of(recording, at);
        program = executable;
        pinned = pins;
        export = recording.export(at);
        sequence++;
        sizeX = (int) (code[at + 4] >>> 32);
        sizeY = (int) code[at + 4];
        sizeZ = (int) (code[at + 5] >>> 32);
        constantCount = recording.constantCount(at);
        constantsAt = recording.constants(at);
        reserveLocal(executable.localMemorySize(export) + (code[at + 3] & 0xFFFF_FFFFL));
        int bindings = recording.bindingCount(at);
        int range = recording.bindings(at);
        long misaligned = executable.bindingAlignment() - 1;
        for (int i = 0; i < bindings; i++, range += Recording.RANGE_WORDS) {
            HostMemory.Block block = pins.block(code, range);
            long offset = pins.offset(code, range);
            if ((block.address + offset & misaligned) != 0) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "binding %d of dispatch '%s' starts at byte %d of its allocation, which is not aligned to %d bytes; copy the bytes into a separate buffer"
                                .formatted(i, executable.export(export).name(), offset, misaligned + 1));
            }
            segments[i] = block.segment;
            offsets[i] = offset;
            lengths[i] = pins.length(code, range);
        }
        if (bindings < bindingCount) {
            Arrays.fill(segments, bindings, bindingCount, MemorySegment.NULL);
        }
        bindingCount = bindings;
    }

    /**
     * Runs a part of the command.
     *
     * @param begin first workgroup, or byte
     * @param end last workgroup or byte, plus 1
     * @throws IreeException when a kernel fails
     */
    void run(long begin, long end) {
        switch (opcode) {
            case Recording.FILL -> fill(target.segment, targetOffset + begin, end - begin, pattern);
            case Recording.UPDATE, Recording.COPY ->
                MemorySegment.copy(
                        sourceBytes, sourceOffset + begin, target.segment, targetOffset + begin, end - begin);
            default -> dispatch(begin, end);
        }
    }

    private void dispatch(long begin, long end) {
        LocalExecutable executable = program;
        if (executable == null) {
            throw IreeException.of(StatusCode.INTERNAL, "dispatch without an executable");
        }
        long all = Integer.toUnsignedLong(countX) * Integer.toUnsignedLong(countY) * countZ;
        if ((++runs & (TIMED_RUNS - 1)) != 0 && executable.isShort(export, all, end - begin)) {
            executable.loaded().dispatch(export, this, begin, end, index);
            return;
        }
        long started = System.nanoTime();
        executable.loaded().dispatch(export, this, begin, end, index);
        executable.took(export, all, end - begin, System.nanoTime() - started);
        if (begin == 0) {
            executable.ran(export);
        }
    }

    /** Leaves the command, so nothing stays reachable through the worker. */
    void leave() {
        entered = NONE;
        Arrays.fill(segments, 0, bindingCount, MemorySegment.NULL);
        bindingCount = 0;
        program = null;
        pinned = null;
        code = NO_CODE;
        target = HostMemory.Block.NONE;
        source = HostMemory.Block.NONE;
        sourceBytes = MemorySegment.NULL;
    }

    private void reserveLocal(long size) {
        if (size == 0) {
            local = MemorySegment.NULL;
            return;
        }
        if (localStorage.byteSize() < size) {
            growLocal(size);
        }
        local = localStorage.byteSize() == size ? localStorage : localStorage.asSlice(0, size);
    }

    void growLocal(long size) {
        if (size > LOCAL_MEMORY_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "dispatch asks for %d bytes of local memory, the limit is %d".formatted(size, LOCAL_MEMORY_LIMIT));
        }
        Arena bigger = Arena.ofShared();
        long rounded = (size + PAGE - 1) & -PAGE;
        try {
            localStorage = bigger.allocate(rounded, PAGE);
        } catch (OutOfMemoryError e) {
            bigger.close();
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "no " + rounded + " bytes of native memory for workgroups; close buffers",
                    e);
        }
        Arena previous = localArena;
        localArena = bigger;
        if (previous != null) {
            previous.close();
        }
    }

    boolean hasLocalMemory() {
        return localArena != null;
    }

    /** Frees the worker's memory. Only when no thread uses it; idempotent. */
    void close() {
        Arena arena = localArena;
        if (arena != null) {
            localArena = null;
            localStorage = MemorySegment.NULL;
            local = MemorySegment.NULL;
            arena.close();
        }
    }

    /** Fills bytes with an 8-byte pattern, starting at the first byte. */
    static void fill(MemorySegment target, long offset, long length, long pattern) {
        long whole = Math.min(length & -8, 64);
        for (long i = 0; i < whole; i += 8) {
            target.set(LONG, offset + i, pattern);
        }
        // Double the filled part: large fills run at the speed of copies.
        for (long done = whole; done > 0 && done < (length & -8); ) {
            long bytes = Math.min(done, (length & -8) - done);
            MemorySegment.copy(target, offset, target, offset + done, bytes);
            done += bytes;
        }
        for (long i = length & -8; i < length; i++) {
            target.set(ValueLayout.JAVA_BYTE, offset + i, (byte) (pattern >>> ((i & 7) << 3)));
        }
    }

    @Override
    public long sequence() {
        return sequence;
    }

    @Override
    public int workgroupSizeX() {
        return sizeX;
    }

    @Override
    public int workgroupSizeY() {
        return sizeY;
    }

    @Override
    public int workgroupSizeZ() {
        return sizeZ;
    }

    @Override
    public int workgroupCountX() {
        return countX;
    }

    @Override
    public int workgroupCountY() {
        return countY;
    }

    @Override
    public int workgroupCountZ() {
        return countZ;
    }

    @Override
    public boolean isUnwanted() {
        PinnedBuffers pins = pinned;
        return pins != null && pins.isUnwanted();
    }

    @Override
    public int maxConcurrency() {
        return maxConcurrency;
    }

    @Override
    public int constantCount() {
        return constantCount;
    }

    @Override
    public int constant(int i) {
        return (int) (code[constantsAt + (i >> 1)] >>> ((i & 1) << 5));
    }

    @Override
    public int bindingCount() {
        return bindingCount;
    }

    @Override
    public MemorySegment binding(int i) {
        return segments[i].asSlice(offsets[i], lengths[i]);
    }

    @Override
    public MemorySegment bindingStorage(int i) {
        return segments[i];
    }

    @Override
    public long bindingOffset(int i) {
        return offsets[i];
    }

    @Override
    public long bindingLength(int i) {
        return lengths[i];
    }

    @Override
    public MemorySegment localMemory() {
        return local;
    }
}

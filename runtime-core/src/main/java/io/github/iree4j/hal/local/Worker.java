package io.github.iree4j.hal.local;

import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.spi.HostDispatch;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What one thread needs while it runs compiled code: workgroup memory and the dispatch it is in. Owned by the thread
 * that acquired it from {@link Workers}.
 */
final class Worker implements HostDispatch {
    private static final long PAGE = 4096;

    /** What an export can declare: 65535 pages. */
    private static final long LOCAL_MEMORY_LIMIT = 65535 * PAGE;

    private static final long[] NO_CODE = new long[0];

    final int index;
    private @Nullable Arena localArena;
    private MemorySegment localStorage = MemorySegment.NULL;
    private MemorySegment local = MemorySegment.NULL;

    // The current dispatch.
    private int sizeX;
    private int sizeY;
    private int sizeZ;
    private int countX;
    private int countY;
    private int countZ;
    private long[] code = NO_CODE;
    private int constantsAt;
    private int constantCount;
    private int bindingCount;
    private final MemorySegment[] segments = new MemorySegment[CommandBuffer.MAXIMUM_BINDINGS];
    private final long[] offsets = new long[segments.length];
    private final long[] lengths = new long[segments.length];

    // What the slots of the binding table stand for in the current execution, and what is pinned for it.
    HostMemory.@Nullable Block[] slotBlocks = new HostMemory.@Nullable Block[16];
    long[] slotOffsets = new long[16];
    long[] slotLengths = new long[16];
    HostMemory.@Nullable Block[] fixedBlocks = new HostMemory.@Nullable Block[16];

    Worker(int index) {
        this.index = index;
        Arrays.fill(segments, MemorySegment.NULL);
    }

    /** Makes room for an execution with so many slots and buffers of its own. */
    void reserve(int slots, int fixed) {
        if (slotBlocks.length < slots) {
            int capacity = Math.max(slots, slotBlocks.length * 2);
            slotBlocks = new HostMemory.@Nullable Block[capacity];
            slotOffsets = new long[capacity];
            slotLengths = new long[capacity];
        }
        if (fixedBlocks.length < fixed) {
            fixedBlocks = new HostMemory.@Nullable Block[Math.max(fixed, fixedBlocks.length * 2)];
        }
    }

    /** Forgets the blocks of an execution, so that the worker keeps no memory reachable. */
    void forget(int slots, int fixed) {
        Arrays.fill(slotBlocks, 0, Math.min(slots, slotBlocks.length), null);
        Arrays.fill(fixedBlocks, 0, Math.min(fixed, fixedBlocks.length), null);
        Arrays.fill(segments, 0, bindingCount, MemorySegment.NULL);
        bindingCount = 0;
        code = NO_CODE;
    }

    /** Begins a dispatch; bindings follow with {@link #bind}. */
    void begin(long[] words, int constants, int firstConstant, long localMemorySize) {
        code = words;
        constantsAt = firstConstant;
        constantCount = constants;
        bindingCount = 0;
        if (localMemorySize == 0) {
            local = MemorySegment.NULL;
        } else {
            if (localStorage.byteSize() < localMemorySize) {
                growLocal(localMemorySize);
            }
            local = localStorage.byteSize() == localMemorySize
                    ? localStorage
                    : localStorage.asSlice(0, localMemorySize);
        }
    }

    void sizes(int x, int y, int z) {
        sizeX = x;
        sizeY = y;
        sizeZ = z;
    }

    void counts(int x, int y, int z) {
        countX = x;
        countY = y;
        countZ = z;
    }

    void bind(HostMemory.Block block, long offset, long length) {
        int i = bindingCount++;
        segments[i] = block.segment;
        offsets[i] = offset;
        lengths[i] = length;
    }

    private void growLocal(long size) {
        if (size > LOCAL_MEMORY_LIMIT) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "dispatch asks for %d bytes of local memory, the limit is %d".formatted(size, LOCAL_MEMORY_LIMIT));
        }
        Arena bigger = Arena.ofShared();
        long rounded = (size + PAGE - 1) & -PAGE;
        try {
            localStorage = bigger.allocate(rounded, PAGE);
        } catch (OutOfMemoryError e) {
            bigger.close();
            throw new IreeException(
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

    /** Frees the worker's memory. Only when no thread owns it. */
    void close() {
        if (localArena != null) {
            localArena.close();
        }
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
    public int maxConcurrency() {
        return 1; // a dispatch runs on the thread that submits it or resolves its waits
    }

    @Override
    public int constantCount() {
        return constantCount;
    }

    @Override
    public int constant(int index) {
        return (int) (code[constantsAt + (index >> 1)] >>> ((index & 1) << 5));
    }

    @Override
    public int bindingCount() {
        return bindingCount;
    }

    @Override
    public MemorySegment binding(int index) {
        return segments[index].asSlice(offsets[index], lengths[index]);
    }

    @Override
    public MemorySegment bindingStorage(int index) {
        return segments[index];
    }

    @Override
    public long bindingOffset(int index) {
        return offsets[index];
    }

    @Override
    public long bindingLength(int index) {
        return lengths[index];
    }

    @Override
    public MemorySegment localMemory() {
        return local;
    }
}

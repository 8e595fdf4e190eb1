package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The state shared by all workgroups of a dispatch, in the native layout read by kernels: workgroup counts and sizes,
 * constants, addresses and lengths of bindings ({@code shim_dispatch_state_t} in {@code shim_cpu_abi.h}, then room for
 * 64 of each).
 *
 * <p>Reusable: {@link #begin}, set, dispatch, begin again. Setters allocate nothing. One thread at a time may set
 * values; once set and safely published, any number of threads may pass it to {@link CpuLibrary#dispatch}. Freed by the
 * garbage collector; keeps the segments of bindings reachable until the next {@link #begin}, but not open: the caller
 * of dispatch must keep segments open.
 */
public final class DispatchState {
    /** The most constants of a dispatch. */
    public static final int MAX_CONSTANTS = 64;

    /** The most bindings of a dispatch. */
    public static final int MAX_BINDINGS = 64;

    private static final long WORKGROUP_SIZE_X = 0;
    private static final long WORKGROUP_SIZE_Y = 4;
    private static final long WORKGROUP_SIZE_Z = 8;
    private static final long CONSTANT_COUNT = 10;
    private static final long WORKGROUP_COUNT_X = 12;
    private static final long WORKGROUP_COUNT_Y = 16;
    private static final long WORKGROUP_COUNT_Z = 20;
    private static final long MAX_CONCURRENCY = 22;
    private static final long BINDING_COUNT = 23;
    private static final long CONSTANTS_POINTER = 24;
    private static final long BINDING_POINTERS_POINTER = 32;
    private static final long BINDING_LENGTHS_POINTER = 40;

    private static final long CONSTANTS = 64;
    private static final long BINDING_POINTERS = CONSTANTS + 4L * MAX_CONSTANTS;
    private static final long BINDING_LENGTHS = BINDING_POINTERS + 8L * MAX_BINDINGS;
    private static final long SIZE = BINDING_LENGTHS + 8L * MAX_BINDINGS;

    private final MemorySegment memory = Arena.ofAuto().allocate(SIZE, 64);
    private final @Nullable MemorySegment[] bindings = new @Nullable MemorySegment[MAX_BINDINGS];
    private int constantCount;
    private int bindingCount;

    /** Creates the state of a dispatch without constants, bindings and workgroups. */
    public DispatchState() {
        memory.set(ValueLayout.JAVA_LONG, CONSTANTS_POINTER, memory.address() + CONSTANTS);
        memory.set(ValueLayout.JAVA_LONG, BINDING_POINTERS_POINTER, memory.address() + BINDING_POINTERS);
        memory.set(ValueLayout.JAVA_LONG, BINDING_LENGTHS_POINTER, memory.address() + BINDING_LENGTHS);
        begin(0, 0);
    }

    /**
     * Starts over: no workgroups, sizes 1, concurrency 1, constants 0, bindings null with length 0.
     *
     * @param constantCount number of constants, 0 to {@value #MAX_CONSTANTS}
     * @param bindingCount number of bindings, 0 to {@value #MAX_BINDINGS}
     * @return this
     * @throws IreeException OUT_OF_RANGE for other numbers
     */
    public DispatchState begin(int constantCount, int bindingCount) {
        checkCount("constants", constantCount, MAX_CONSTANTS);
        checkCount("bindings", bindingCount, MAX_BINDINGS);
        for (int i = 0; i < this.bindingCount; i++) {
            bindings[i] = null;
        }
        this.constantCount = constantCount;
        this.bindingCount = bindingCount;
        memory.set(ValueLayout.JAVA_SHORT, CONSTANT_COUNT, (short) constantCount);
        memory.set(ValueLayout.JAVA_BYTE, BINDING_COUNT, (byte) bindingCount);
        for (int i = 0; i < constantCount; i++) { // a few words: the checks of a bulk operation cost more
            memory.set(ValueLayout.JAVA_INT, CONSTANTS + 4L * i, 0);
        }
        for (int i = 0; i < bindingCount; i++) {
            memory.set(ValueLayout.JAVA_LONG, BINDING_POINTERS + 8L * i, 0);
            memory.set(ValueLayout.JAVA_LONG, BINDING_LENGTHS + 8L * i, 0);
        }
        workgroupCount(0, 0, 0);
        workgroupSize(1, 1, 1);
        maxConcurrency(1);
        return this;
    }

    private static void checkCount(String what, int count, int limit) {
        if (count < 0 || count > limit) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE, "dispatch with " + count + " " + what + ", the limit is " + limit);
        }
    }

    /**
     * Sets the grid. Workgroups are counted with x innermost, then y, then z.
     *
     * @param x unsigned 32-bit number
     * @param y unsigned 32-bit number
     * @param z 0 to 65535
     * @return this
     * @throws IreeException OUT_OF_RANGE when z does not fit 16 bits
     */
    public DispatchState workgroupCount(int x, int y, int z) {
        checkZ("workgroup count", z);
        memory.set(ValueLayout.JAVA_INT, WORKGROUP_COUNT_X, x);
        memory.set(ValueLayout.JAVA_INT, WORKGROUP_COUNT_Y, y);
        memory.set(ValueLayout.JAVA_SHORT, WORKGROUP_COUNT_Z, (short) z);
        return this;
    }

    /**
     * Sets the workgroup size reported to kernels; 0 becomes 1.
     *
     * @param x unsigned 32-bit number
     * @param y unsigned 32-bit number
     * @param z 0 to 65535
     * @return this
     * @throws IreeException OUT_OF_RANGE when z does not fit 16 bits
     */
    public DispatchState workgroupSize(int x, int y, int z) {
        checkZ("workgroup size", z);
        memory.set(ValueLayout.JAVA_INT, WORKGROUP_SIZE_X, x == 0 ? 1 : x);
        memory.set(ValueLayout.JAVA_INT, WORKGROUP_SIZE_Y, y == 0 ? 1 : y);
        memory.set(ValueLayout.JAVA_SHORT, WORKGROUP_SIZE_Z, (short) (z == 0 ? 1 : z));
        return this;
    }

    private static void checkZ(String what, int z) {
        if (z < 0 || z > 0xFFFF) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE, what + " z is " + Integer.toUnsignedString(z) + ", the limit is 65535");
        }
    }

    /**
     * Sets how many workgroups may run concurrently, as a hint to kernels.
     *
     * @param workers at least 1; clamped to 255
     * @return this
     */
    public DispatchState maxConcurrency(int workers) {
        memory.set(ValueLayout.JAVA_BYTE, MAX_CONCURRENCY, (byte) Math.clamp(workers, 1, 255));
        return this;
    }

    /**
     * Sets a constant.
     *
     * @param index less than the number given to {@link #begin}
     * @param value the constant's 32 bits
     * @return this
     */
    public DispatchState constant(int index, int value) {
        Objects.checkIndex(index, constantCount);
        memory.set(ValueLayout.JAVA_INT, CONSTANTS + 4L * index, value);
        return this;
    }

    /**
     * Sets all constants.
     *
     * @param values contains the number given to {@link #begin} of values, from {@code from} on
     * @param from index of the first
     * @return this
     */
    public DispatchState constants(int[] values, int from) {
        MemorySegment.copy(values, from, memory, ValueLayout.JAVA_INT, CONSTANTS, constantCount);
        return this;
    }

    /**
     * Sets a binding to a range of native memory. The memory stays reachable while set.
     *
     * @param index less than the number given to {@link #begin}
     * @param segment native memory; compiled code expects an alignment fixed at compile time, usually 64 bytes
     * @param offset first byte
     * @param length number of bytes
     * @return this
     * @throws IreeException INVALID_ARGUMENT for heap memory, FAILED_PRECONDITION for freed memory, OUT_OF_RANGE when
     *     the range does not fit the segment
     */
    public DispatchState binding(int index, MemorySegment segment, long offset, long length) {
        Objects.checkIndex(index, bindingCount);
        if (!segment.isNative()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "binding " + index + " is heap memory; kernels need native memory");
        }
        if (!segment.scope().isAlive()) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "memory of binding " + index + " is closed");
        }
        if ((offset | length) < 0 || offset > segment.byteSize() - length) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "binding %d [%d, +%d) does not fit memory of %d bytes"
                            .formatted(index, offset, length, segment.byteSize()));
        }
        bindings[index] = segment;
        memory.set(ValueLayout.JAVA_LONG, BINDING_POINTERS + 8L * index, segment.address() + offset);
        memory.set(ValueLayout.JAVA_LONG, BINDING_LENGTHS + 8L * index, length);
        return this;
    }

    long address() {
        return memory.address();
    }
}

package io.github.iree4j.modules.vmvx;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A two-dimensional strided view of a program's buffer, checked once for a given size so that kernels need no checks of
 * arithmetic.
 *
 * <p>Offset, strides and sizes come from the program, in elements, and may be arbitrary: the last element accessed is
 * computed exactly. Element (i, j) is at {@code offset + i * stride0 + j * stride1}.
 */
final class Grid {
    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final String name;
    private final VmBuffer buffer;
    private final long offset;
    private final long stride0;
    private final long stride1;

    Grid(String name, VmBuffer buffer, long offset, long stride0, long stride1) {
        this.name = name;
        this.buffer = buffer;
        this.offset = offset;
        this.stride0 = stride0;
        this.stride1 = stride1;
    }

    /** Reads buffer, offset and both strides, the form of most imports. */
    static Grid read(VmCall call, String name) {
        return new Grid(name, call.required(VmBuffer.class), call.i64(), call.i64(), call.i64());
    }

    /** Reads buffer, offset and outer stride; the inner stride is 1. */
    static Grid readContiguous(VmCall call, String name) {
        return new Grid(name, call.required(VmBuffer.class), call.i64(), call.i64(), 1);
    }

    /**
     * Returns the bytes from element (0, 0) on, after checking that a program may read {@code size0} by {@code size1}
     * elements from there. Strides of zero repeat an element. The sizes must not be negative ({@link #isEmpty} checks
     * the sizes).
     */
    MemorySegment readable(long size0, long size1, int elementSize) {
        return check(size0, size1, elementSize);
    }

    /**
     * As {@link #readable}, for writing. A stride of zero along a dimension of more than one element is rejected: such
     * a stride would write an element repeatedly, as often as requested by the program.
     */
    MemorySegment writable(long size0, long size1, int elementSize) {
        if (!buffer.isMutable()) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED, "'%s' is a constant and cannot be written".formatted(name));
        }
        if ((size0 > 1 && stride0 == 0) || (size1 > 1 && stride1 == 0)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' is written with strides [%d, %d] for sizes [%d, %d]; a stride of 0 would write one element repeatedly"
                            .formatted(name, stride0, stride1, size0, size1));
        }
        return check(size0, size1, elementSize);
    }

    private MemorySegment check(long size0, long size1, int elementSize) {
        long elements = buffer.length() / elementSize;
        if (offset >= 0 && stride0 >= 0 && stride1 >= 0) {
            try {
                long last = Math.addExact(
                        offset,
                        Math.addExact(Math.multiplyExact(size0 - 1, stride0), Math.multiplyExact(size1 - 1, stride1)));
                if (last < elements) {
                    return buffer.segment().asSlice(offset * elementSize);
                }
            } catch (ArithmeticException e) {
                // beyond any buffer
            }
        }
        throw IreeException.of(
                StatusCode.OUT_OF_RANGE,
                "'%s' of sizes [%d, %d], offset %d and strides [%d, %d] does not fit in a buffer of %d elements of %d bytes"
                        .formatted(name, size0, size1, offset, stride0, stride1, elements, elementSize));
    }

    long stride0() {
        return stride0;
    }

    long stride1() {
        return stride1;
    }

    /** Whether there is nothing to do; negative sizes are refused. */
    static boolean isEmpty(long size0, long size1) {
        if (size0 < 0 || size1 < 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "sizes [%d, %d] must not be negative".formatted(size0, size1));
        }
        return size0 == 0 || size1 == 0;
    }
}

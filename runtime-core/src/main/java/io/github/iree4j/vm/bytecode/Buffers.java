package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.MemoryBudget;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmTypes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The buffer operations. Loads and stores are written twice, for program memory and for other memory. HotSpot then
 * knows that program memory is an array of longs, regardless of the buffers used by other programs, and hoists the
 * checks out of loops.
 *
 * <p>Offsets and lengths of loads, stores and fills count elements; offsets and lengths of other operations count
 * bytes. All are checked without overflow before any access.
 */
final class Buffers {
    private static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Buffers() {}

    static VmBuffer buffer(@Nullable Object object) {
        if (object instanceof VmBuffer buffer) {
            return buffer;
        }
        throw IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "reference is %s where a !vm.buffer is wanted".formatted(VmTypes.nameOf(object)));
    }

    private static VmBuffer writable(@Nullable Object object) {
        VmBuffer buffer = buffer(object);
        if (!buffer.isMutable()) {
            throw IreeException.of(StatusCode.PERMISSION_DENIED, buffer + " cannot be written");
        }
        return buffer;
    }

    private static IreeException outside(VmBuffer buffer, long index, int shift) {
        return IreeException.of(
                StatusCode.OUT_OF_RANGE,
                "element %s of %d bytes is outside of %s".formatted(Long.toUnsignedString(index), 1 << shift, buffer));
    }

    /** Returns a checked range of a buffer. */
    private static MemorySegment slice(VmBuffer buffer, long offset, long length) {
        if (offset < 0 || length < 0 || offset > buffer.length() || length > buffer.length() - offset) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s bytes at %s are outside of %s"
                            .formatted(Long.toUnsignedString(length), Long.toUnsignedString(offset), buffer));
        }
        return buffer.segment().asSlice(offset, length);
    }

    static int loadI8(@Nullable Object object, long index) {
        VmBuffer buffer = buffer(object);
        try {
            long offset = Objects.checkIndex(index, buffer.length() >> 0) << 0;
            return buffer.isAllocatedByProgram()
                    ? buffer.segment().get(I8, offset)
                    : buffer.segment().get(I8, offset);
        } catch (IndexOutOfBoundsException e) {
            throw outside(buffer, index, 0);
        }
    }

    static int loadI16(@Nullable Object object, long index) {
        VmBuffer buffer = buffer(object);
        try {
            long offset = Objects.checkIndex(index, buffer.length() >> 1) << 1;
            return buffer.isAllocatedByProgram()
                    ? buffer.segment().get(I16, offset)
                    : buffer.segment().get(I16, offset);
        } catch (IndexOutOfBoundsException e) {
            throw outside(buffer, index, 1);
        }
    }

    static int loadI32(@Nullable Object object, long index) {
        VmBuffer buffer = buffer(object);
        try {
            long offset = Objects.checkIndex(index, buffer.length() >> 2) << 2;
            return buffer.isAllocatedByProgram()
                    ? buffer.segment().get(I32, offset)
                    : buffer.segment().get(I32, offset);
        } catch (IndexOutOfBoundsException e) {
            throw outside(buffer, index, 2);
        }
    }

    static long loadI64(@Nullable Object object, long index) {
        VmBuffer buffer = buffer(object);
        try {
            long offset = Objects.checkIndex(index, buffer.length() >> 3) << 3;
            return buffer.isAllocatedByProgram()
                    ? buffer.segment().get(I64, offset)
                    : buffer.segment().get(I64, offset);
        } catch (IndexOutOfBoundsException e) {
            throw outside(buffer, index, 3);
        }
    }

    static void storeI8(@Nullable Object object, long index, int value) {
        VmBuffer buffer = writable(object);
        try {
            long offset = Objects.checkIndex(index, buffer.length() >> 0) << 0;
            if (buffer.isAllocatedByProgram()) {
                buffer.segment().set(I8, offset, (byte) value);
            } else {
                buffer.segment().set(I8, offset, (byte) value);
            }
        } catch (IndexOutOfBoundsException e) {
            throw outside(buffer, index, 0);
        }
    }

    static void storeI16(@Nullable Object object, long index, int value) {
        VmBuffer buffer = writable(object);
        try {
            long offset = Objects.checkIndex(index, buffer.length() >> 1) << 1;
            if (buffer.isAllocatedByProgram()) {
                buffer.segment().set(I16, offset, (short) value);
            } else {
                buffer.segment().set(I16, offset, (short) value);
            }
        } catch (IndexOutOfBoundsException e) {
            throw outside(buffer, index, 1);
        }
    }

    static void storeI32(@Nullable Object object, long index, int value) {
        VmBuffer buffer = writable(object);
        try {
            long offset = Objects.checkIndex(index, buffer.length() >> 2) << 2;
            if (buffer.isAllocatedByProgram()) {
                buffer.segment().set(I32, offset, value);
            } else {
                buffer.segment().set(I32, offset, value);
            }
        } catch (IndexOutOfBoundsException e) {
            throw outside(buffer, index, 2);
        }
    }

    static void storeI64(@Nullable Object object, long index, long value) {
        VmBuffer buffer = writable(object);
        try {
            long offset = Objects.checkIndex(index, buffer.length() >> 3) << 3;
            if (buffer.isAllocatedByProgram()) {
                buffer.segment().set(I64, offset, value);
            } else {
                buffer.segment().set(I64, offset, value);
            }
        } catch (IndexOutOfBoundsException e) {
            throw outside(buffer, index, 3);
        }
    }

    static void fill(@Nullable Object object, long index, long count, long value, int shift) {
        VmBuffer buffer = writable(object);
        long elements = buffer.length() >> shift;
        if (index < 0 || count < 0 || index > elements || count > elements - index) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s elements of %d bytes at %s are outside of %s"
                            .formatted(Long.toUnsignedString(count), 1 << shift, Long.toUnsignedString(index), buffer));
        }
        MemorySegment part = buffer.segment().asSlice(index << shift, count << shift);
        switch (shift) {
            case 0 -> part.fill((byte) value);
            case 1 -> repeat(part, (value & 0xFFFF) * 0x0001_0001_0001_0001L);
            case 2 -> repeat(part, (value & 0xFFFF_FFFFL) * 0x0000_0001_0000_0001L);
            default -> repeat(part, value);
        }
    }

    /** Fills with a pattern of eight bytes, by repeatedly copying the part already filled. */
    private static void repeat(MemorySegment part, long pattern) {
        long size = part.byteSize();
        for (long i = 0; i < Math.min(size, Long.BYTES); i++) {
            part.set(I8, i, (byte) (pattern >>> i * Byte.SIZE));
        }
        for (long filled = Long.BYTES; filled < size; filled *= 2) {
            MemorySegment.copy(part, 0, part, filled, Math.min(filled, size - filled));
        }
    }

    static VmBuffer allocate(long length, int alignment, MemoryBudget budget) {
        checkAlignment(alignment);
        return VmBuffer.allocate(length, budget);
    }

    static VmBuffer copyOf(@Nullable Object source, long offset, long length, int alignment, MemoryBudget budget) {
        checkAlignment(alignment);
        MemorySegment part = slice(buffer(source), offset, length);
        VmBuffer copy = VmBuffer.allocate(length, budget);
        copy.segment().copyFrom(part);
        return copy;
    }

    private static void checkAlignment(int alignment) {
        if (alignment < 0 || (alignment & (alignment - 1)) != 0) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "alignment " + alignment + " is not a power of two");
        }
    }

    static void copy(
            @Nullable Object source, long sourceOffset, @Nullable Object target, long targetOffset, long length) {
        MemorySegment from = slice(buffer(source), sourceOffset, length);
        MemorySegment to = slice(writable(target), targetOffset, length);
        to.copyFrom(from);
    }

    static boolean areEqual(
            @Nullable Object left, long leftOffset, @Nullable Object right, long rightOffset, long length) {
        MemorySegment one = slice(buffer(left), leftOffset, length);
        MemorySegment other = slice(buffer(right), rightOffset, length);
        return one.mismatch(other) < 0;
    }

    /** SipHash-2-4 with the key bytes 0 to 15 (https://www.aumasson.jp/siphash/siphash.pdf). */
    static long hash(@Nullable Object object, long offset, long length) {
        MemorySegment bytes = slice(buffer(object), offset, length);
        long k0 = 0x0706050403020100L;
        long k1 = 0x0F0E0D0C0B0A0908L;
        SipHash state = new SipHash(k0, k1);
        long whole = length & ~7L;
        for (long i = 0; i < whole; i += 8) {
            state.add(bytes.get(I64, i));
        }
        long last = length << 56;
        for (long i = whole; i < length; i++) {
            last |= (bytes.get(I8, i) & 0xFFL) << 8 * (i - whole);
        }
        state.add(last);
        return state.finish();
    }

    private static final class SipHash {
        private static final int BLOCK_ROUNDS = 2;
        private static final int FINAL_ROUNDS = 4;

        private long v0;
        private long v1;
        private long v2;
        private long v3;

        SipHash(long k0, long k1) {
            v0 = k0 ^ 0x736F6D6570736575L;
            v1 = k1 ^ 0x646F72616E646F6DL;
            v2 = k0 ^ 0x6C7967656E657261L;
            v3 = k1 ^ 0x7465646279746573L;
        }

        void add(long block) {
            v3 ^= block;
            rounds(BLOCK_ROUNDS);
            v0 ^= block;
        }

        long finish() {
            v2 ^= 0xFF;
            rounds(FINAL_ROUNDS);
            return v0 ^ v1 ^ v2 ^ v3;
        }

        private void rounds(int count) {
            for (int i = 0; i < count; i++) {
                v0 += v1;
                v1 = Long.rotateLeft(v1, 13) ^ v0;
                v0 = Long.rotateLeft(v0, 32);
                v2 += v3;
                v3 = Long.rotateLeft(v3, 16) ^ v2;
                v0 += v3;
                v3 = Long.rotateLeft(v3, 21) ^ v0;
                v2 += v1;
                v1 = Long.rotateLeft(v1, 17) ^ v2;
                v2 = Long.rotateLeft(v2, 32);
            }
        }
    }
}

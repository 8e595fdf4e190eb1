package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Checks of arguments passed by programs. Ranges of device buffers are checked by the HAL; everything else is checked here. */
final class Arguments {
    // Defined bits; the same values as in iree/hal/buffer.h, command_buffer.h and device.h.
    static final int MEMORY_TYPES = 0x7F;
    static final int BUFFER_USAGES = 0x1F0F_3F03;
    static final int MEMORY_ACCESSES = 0x3F;
    static final int COMMAND_BUFFER_MODES = 0x1F1;
    static final int COMMAND_CATEGORIES = 0x3;
    static final int EXECUTION_STAGES = 0x3F;
    static final long DISPATCH_FLAGS = 0x7F;
    static final long ALLOCA_FLAGS = 0x3;
    static final long DEALLOCA_FLAGS = 0x1;
    static final long EXECUTE_FLAGS = 0x1;

    private Arguments() {}

    /** Rejects undefined bits: a later compiler expects an effect unknown to this runtime. */
    static int bits(String argument, int value, int known) {
        return (int) bits(argument, Integer.toUnsignedLong(value), Integer.toUnsignedLong(known));
    }

    /** As {@link #bits(String, int, int)}. */
    static long bits(String argument, long value, long known) {
        if ((value & ~known) != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' is 0x%x with unknown bits 0x%x; known are 0x%x"
                            .formatted(argument, value, value & ~known, known));
        }
        return value;
    }

    /** Returns the bytes {@code [offset, offset + length)} of a program's buffer; a length of -1 takes all from the offset on. */
    static MemorySegment bytes(String argument, VmBuffer buffer, long offset, long length) {
        long capacity = buffer.length();
        long resolved = length == Buffer.WHOLE ? capacity - offset : length;
        if (offset < 0 || resolved < 0 || offset > capacity || resolved > capacity - offset) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "'%s': offset %d, length %d do not fit in a vm.buffer of %d bytes"
                            .formatted(argument, offset, length, capacity));
        }
        return buffer.segment().asSlice(offset, resolved);
    }

    /**
     * Returns the owner keeping the bytes of a program's buffer valid: constants live as long as the constants' module,
     * other buffers are reference-counted.
     */
    static @Nullable RefCounted keeper(VmBuffer buffer) {
        return buffer.isModuleConstant() ? buffer.owner() : buffer;
    }

    /** Returns the number of elements of a list argument, after checking the number against a limit. */
    static int count(String argument, int count, int limit) {
        if (count > limit) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "'%s' has %d elements, the limit is %d".formatted(argument, count, limit));
        }
        return count;
    }
}

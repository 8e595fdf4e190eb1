package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** Checks made by every backend before fills, updates and copies: the same rules for queue operations and recorded commands. */
@NotForApplications
public final class Transfers {
    /** Maximum number of bytes of an update command. */
    public static final int MAXIMUM_UPDATE = 65536;

    private Transfers() {}

    /**
     * Checks a fill.
     *
     * @param target the buffer to fill
     * @param offset first byte
     * @param length bytes, or {@link Buffer#WHOLE}
     * @param patternLength bytes of the pattern
     * @param copiedOnWrite whether the call writes to a private copy, regardless of the access flags
     * @return the length in bytes
     * @throws IreeException PERMISSION_DENIED, OUT_OF_RANGE or INVALID_ARGUMENT
     */
    public static long checkFill(Buffer target, long offset, long length, int patternLength, boolean copiedOnWrite) {
        requireTarget("fill target", target, copiedOnWrite);
        long resolved = target.checkRange("fill target", offset, length);
        checkPattern(offset, resolved, patternLength);
        return resolved;
    }

    /**
     * Checks that a transfer may write to a buffer.
     *
     * @param what names the target in the message
     * @param target the buffer to write
     * @param copiedOnWrite whether the call writes to a private copy, regardless of the access flags
     * @throws IreeException PERMISSION_DENIED
     */
    public static void requireTarget(String what, Buffer target, boolean copiedOnWrite) {
        target.require(
                what, MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER_TARGET, copiedOnWrite ? 0 : MemoryAccess.WRITE);
    }

    /**
     * Checks that a range holds a whole number of patterns.
     *
     * @param offset first byte
     * @param length bytes
     * @param patternLength bytes of the pattern
     * @throws IreeException INVALID_ARGUMENT
     */
    static void checkPattern(long offset, long length, int patternLength) {
        if (patternLength != 1 && patternLength != 2 && patternLength != 4 && patternLength != 8) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "fill pattern has " + patternLength + " bytes; 1, 2, 4 and 8 are possible");
        }
        if ((offset | length) % patternLength != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "fill of %d bytes at offset %d is not aligned to its pattern of %d bytes"
                            .formatted(length, offset, patternLength));
        }
    }

    /**
     * Checks an update.
     *
     * @param target the buffer to write
     * @param offset first byte
     * @param length bytes
     * @param copiedOnWrite whether the call writes to a private copy, regardless of the access flags
     * @throws IreeException PERMISSION_DENIED or OUT_OF_RANGE
     */
    public static void checkUpdate(Buffer target, long offset, long length, boolean copiedOnWrite) {
        requireTarget("update target", target, copiedOnWrite);
        target.checkRange("update target", offset, length);
    }

    /**
     * Checks a copy.
     *
     * @param source the buffer to read
     * @param sourceOffset first byte read
     * @param target the buffer to write
     * @param targetOffset first byte written
     * @param length bytes, or {@link Buffer#WHOLE} for all of the source from the offset on
     * @param copiedOnWrite whether the call writes to a private copy of the target, regardless of the access flags
     * @return the length in bytes
     * @throws IreeException PERMISSION_DENIED, OUT_OF_RANGE, or INVALID_ARGUMENT when the ranges overlap
     */
    public static long checkCopy(
            Buffer source, long sourceOffset, Buffer target, long targetOffset, long length, boolean copiedOnWrite) {
        source.require("copy source", MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER_SOURCE, MemoryAccess.READ);
        requireTarget("copy target", target, copiedOnWrite);
        long resolved = source.checkRange("copy source", sourceOffset, length);
        target.checkRange("copy target", targetOffset, resolved);
        checkOverlap(source, sourceOffset, target, targetOffset, resolved);
        return resolved;
    }

    /**
     * Checks that two ranges of the same length do not overlap.
     *
     * @param source the source buffer
     * @param sourceOffset first byte
     * @param target the target buffer
     * @param targetOffset first byte
     * @param length bytes
     * @throws IreeException INVALID_ARGUMENT when the ranges overlap
     */
    public static void checkOverlap(Buffer source, long sourceOffset, Buffer target, long targetOffset, long length) {
        if (!source.allocatedBuffer().equals(target.allocatedBuffer()) || length == 0) {
            return;
        }
        long from = source.offset() + sourceOffset;
        long to = target.offset() + targetOffset;
        if (from < to + length && to < from + length) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "copy source [%d, %d) and target [%d, %d) overlap in one allocation; copy through another buffer"
                            .formatted(from, from + length, to, to + length));
        }
    }
}

package io.github.iree4j.modules.parameters;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * The table of transfers passed by a program: per row a key, as (u32 offset, u32 length) into the key data, and a span, as (u64 parameter
 * offset, u64 buffer offset, u64 length).
 */
final class ParameterSpans {
    private static final int KEY_SIZE = 8;
    private static final int SPAN_SIZE = 24;

    private final MemorySegment keyTable;
    private final MemorySegment keyData;
    private final MemorySegment spans;
    private final int count;

    ParameterSpans(VmBuffer keyTable, VmBuffer keyData, VmBuffer spans) {
        if (spans.length() % SPAN_SIZE != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'spans' has %d bytes, must be a multiple of %d".formatted(spans.length(), SPAN_SIZE));
        }
        long rows = spans.length() / SPAN_SIZE;
        if (keyTable.length() / KEY_SIZE < rows || rows > Integer.MAX_VALUE) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'key_table' has %d bytes, %d spans need %d".formatted(keyTable.length(), rows, rows * KEY_SIZE));
        }
        this.keyTable = keyTable.segment();
        this.keyData = keyData.segment();
        this.spans = spans.segment();
        this.count = (int) rows;
    }

    private ParameterSpans(MemorySegment keyTable, MemorySegment keyData, MemorySegment spans, int count) {
        this.keyTable = keyTable;
        this.keyData = keyData;
        this.spans = spans;
        this.count = count;
    }

    /** Creates a table of a single transfer. */
    static ParameterSpans of(String key, long parameterOffset, long bufferOffset, long length) {
        MemorySegment keyData = MemorySegment.ofArray(key.getBytes(StandardCharsets.UTF_8));
        MemorySegment keyTable = MemorySegment.ofArray(new byte[KEY_SIZE]);
        keyTable.set(ArchiveSource.U32, 4, (int) keyData.byteSize());
        MemorySegment span = MemorySegment.ofArray(new byte[SPAN_SIZE]);
        span.set(ArchiveSource.U64, 0, parameterOffset);
        span.set(ArchiveSource.U64, 8, bufferOffset);
        span.set(ArchiveSource.U64, 16, length);
        return new ParameterSpans(keyTable, keyData, span, 1);
    }

    int count() {
        return count;
    }

    String key(int row) {
        long offset = Integer.toUnsignedLong(keyTable.get(ArchiveSource.U32, (long) row * KEY_SIZE));
        long length = Integer.toUnsignedLong(keyTable.get(ArchiveSource.U32, (long) row * KEY_SIZE + 4));
        if (offset > keyData.byteSize() || length > keyData.byteSize() - offset) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "key %d: offset %d, length %d do not fit in 'key_data' of %d bytes"
                            .formatted(row, offset, length, keyData.byteSize()));
        }
        return new String(keyData.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    long parameterOffset(int row) {
        return spans.get(ArchiveSource.U64, (long) row * SPAN_SIZE);
    }

    long bufferOffset(int row) {
        return spans.get(ArchiveSource.U64, (long) row * SPAN_SIZE + 8);
    }

    long length(int row) {
        return spans.get(ArchiveSource.U64, (long) row * SPAN_SIZE + 16);
    }

    /** Checks that a row's span lies within the parameter. */
    void checkFits(int row, ParameterEntry entry) {
        long offset = parameterOffset(row);
        long length = length(row);
        if (offset < 0 || length < 0 || offset > entry.length() || length > entry.length() - offset) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "span of parameter '%s': offset %s, length %s do not fit in its %d bytes"
                            .formatted(
                                    entry.key(),
                                    Long.toUnsignedString(offset),
                                    Long.toUnsignedString(length),
                                    entry.length()));
        }
    }
}

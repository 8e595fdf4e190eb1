package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A buffer range used by a recorded command: a range of a given buffer, or of the buffer in a slot of the binding table
 * when the command buffer is executed.
 *
 * @param buffer the buffer, or null to take {@code slot} of the binding table
 * @param slot index into the binding table; ignored when there is a buffer
 * @param offset first byte, counted from the start of the buffer or of the table's range
 * @param length bytes, or {@link Buffer#WHOLE}
 */
@NotForApplications
public record BufferRef(@Nullable Buffer buffer, int slot, long offset, long length) {

    /**
     * Returns a reference to all of a buffer.
     *
     * @param buffer the buffer
     * @return the range
     */
    public static BufferRef of(Buffer buffer) {
        return of(buffer, 0, Buffer.WHOLE);
    }

    /**
     * Returns a reference to a part of a buffer.
     *
     * @param buffer the buffer
     * @param offset first byte
     * @param length bytes, or {@link Buffer#WHOLE}
     * @return the range
     */
    public static BufferRef of(Buffer buffer, long offset, long length) {
        return new BufferRef(Objects.requireNonNull(buffer, "buffer"), 0, offset, length);
    }

    /**
     * Returns a reference to a part of the range in a slot of the binding table.
     *
     * @param slot index into the binding table
     * @param offset first byte, counted from the start of the table's range
     * @param length bytes, or {@link Buffer#WHOLE}
     * @return the range
     */
    public static BufferRef slot(int slot, long offset, long length) {
        return new BufferRef(null, slot, offset, length);
    }
}

package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The buffer ranges behind the slots of a reusable command buffer, or behind the bindings of a single dispatch, in one
 * submission.
 *
 * <p>A submission reads the table before it returns, so the same table can be filled again for the next submission.
 * Holds no references. A single thread at a time.
 */
@NotForApplications
public final class BindingTable {
    private @Nullable Buffer[] buffers;
    private long[] offsets;
    private long[] lengths;
    private int size;

    /** Creates an empty table. */
    public BindingTable() {
        this(8);
    }

    /**
     * Creates an empty table.
     *
     * @param capacity number of entries before the table grows
     */
    public BindingTable(int capacity) {
        buffers = new @Nullable Buffer[capacity];
        offsets = new long[capacity];
        lengths = new long[capacity];
    }

    /**
     * Creates a table of whole buffers.
     *
     * @param buffers a buffer for each slot
     * @return the table
     */
    public static BindingTable of(Buffer... buffers) {
        BindingTable table = new BindingTable(buffers.length);
        for (Buffer buffer : buffers) {
            table.add(buffer, 0, Buffer.WHOLE);
        }
        return table;
    }

    /**
     * Appends the next slot.
     *
     * @param buffer the buffer, borrowed, or null for an unused slot
     * @param offset first byte
     * @param length bytes, or {@link Buffer#WHOLE}
     * @return this table
     */
    public BindingTable add(@Nullable Buffer buffer, long offset, long length) {
        if (size == buffers.length) {
            int capacity = Math.max(8, size * 2);
            buffers = Arrays.copyOf(buffers, capacity);
            offsets = Arrays.copyOf(offsets, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
        }
        buffers[size] = buffer;
        offsets[size] = offset;
        lengths[size++] = length;
        return this;
    }

    /** Removes all entries. */
    public void clear() {
        Arrays.fill(buffers, 0, size, null);
        size = 0;
    }

    /**
     * Returns the number of filled slots.
     *
     * @return slots
     */
    public int size() {
        return size;
    }

    /**
     * Returns the buffer of a slot.
     *
     * @param slot index, below {@link #size()}
     * @return the buffer, borrowed, or null
     */
    public @Nullable Buffer buffer(int slot) {
        return buffers[check(slot)];
    }

    /**
     * Returns the start of the range of a slot.
     *
     * @param slot index, below {@link #size()}
     * @return bytes from the start of the buffer
     */
    public long offset(int slot) {
        return offsets[check(slot)];
    }

    /**
     * Returns the length of the range of a slot.
     *
     * @param slot index, below {@link #size()}
     * @return bytes, or {@link Buffer#WHOLE}
     */
    public long length(int slot) {
        return lengths[check(slot)];
    }

    /**
     * Copies the entries.
     *
     * @return an independent table, without references
     */
    public BindingTable copy() {
        BindingTable copy = new BindingTable(0);
        copy.buffers = Arrays.copyOf(buffers, size);
        copy.offsets = Arrays.copyOf(offsets, size);
        copy.lengths = Arrays.copyOf(lengths, size);
        copy.size = size;
        return copy;
    }

    private int check(int slot) {
        if (slot < 0 || slot >= size) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE, "slot " + slot + " does not fit binding table of " + size + " entries");
        }
        return slot;
    }
}

package io.github.iree4j.flatbuffer;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads an untrusted FlatBuffer: each access is bounds-checked, and the total amount read is limited by a budget,
 * because tables and strings can be shared and so read many times over.
 *
 * <p>Format: https://flatbuffers.dev/internals/. Failures are INVALID_ARGUMENT. Not thread-safe.
 */
public final class FlatBuffer {
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The limit on reads: strings and vectors together may be read this many times the buffer's size. */
    private static final int SHARING = 8;

    private static final int BUDGET_FLOOR = 1 << 16;
    private static final int TABLE_COST = 8;

    private final MemorySegment bytes;
    private final long length;
    private long budget;

    /**
     * Reads a buffer.
     *
     * @param bytes the whole buffer, without a size prefix; not written while being read
     */
    public FlatBuffer(MemorySegment bytes) {
        this.bytes = bytes;
        length = bytes.byteSize();
        budget = BUDGET_FLOOR + SHARING * length;
    }

    /**
     * Returns the root table after checking the identifier.
     *
     * @param what names the expected content, for messages
     * @param identifier four characters
     * @return the root
     */
    public Table root(String what, String identifier) {
        requireIdentifier(what, identifier);
        return new Table(u32("root", 0));
    }

    /**
     * Checks the identifier in the first eight bytes.
     *
     * @param what names the expected content, for messages
     * @param identifier four characters
     * @throws IreeException INVALID_ARGUMENT for another identifier
     */
    public void requireIdentifier(String what, String identifier) {
        if (length < 8) {
            throw damaged("its header", 0, 8);
        }
        String found = new String(bytes.asSlice(4, 4).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
        if (!found.equals(identifier)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "it is not a %s: identifier '%s' where '%s' is wanted"
                            .formatted(what, found.replaceAll("[^ -~]", "?"), identifier));
        }
    }

    private void spend(long cost) {
        budget -= cost;
        if (budget < 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "its tables refer to the same data too often: more than %d times its %d bytes"
                            .formatted(SHARING, length));
        }
    }

    /** Resets the budget, for reading on behalf of another caller. */
    public void renew() {
        budget = BUDGET_FLOOR + SHARING * length;
    }

    private long require(String what, long position, long size) {
        if (position < 0 || size > length - position) {
            throw damaged(what, position, size);
        }
        return position;
    }

    private IreeException damaged(String what, long position, long size) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "%s at [%d, %d) is outside of its %d bytes".formatted(what, position, position + size, length));
    }

    private int u16(String what, long position) {
        return bytes.get(U16, require(what, position, 2)) & 0xFFFF;
    }

    private int i32(String what, long position) {
        return bytes.get(I32, require(what, position, 4));
    }

    private long u32(String what, long position) {
        return i32(what, position) & 0xFFFF_FFFFL;
    }

    /** Follows an unsigned offset relative to the offset's position. */
    private long follow(String what, long position) {
        long offset = u32(what, position);
        if (offset == 0) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, what + " at " + position + " refers to itself");
        }
        return position + offset;
    }

    private String string(String what, long position) {
        long size = u32(what, position);
        require(what, position + 4, size);
        spend(TABLE_COST + size);
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(bytes.asSlice(position + 4, size).asByteBuffer())
                    .toString();
        } catch (CharacterCodingException e) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "%s at %d is not UTF-8".formatted(what, position), e);
        }
    }

    /** Reads the first bytes of a string, replacing malformed sequences. */
    private String string(String what, long position, int maxBytes) {
        long size = u32(what, position);
        require(what, position + 4, size);
        int read = (int) Math.min(size, maxBytes);
        spend(TABLE_COST + read);
        String text = StandardCharsets.UTF_8
                .decode(bytes.asSlice(position + 4, read).asByteBuffer())
                .toString();
        return read < size ? text + "..." : text;
    }

    /** A table. Field names appear in messages; each method documents the value of an absent field. */
    public final class Table {
        private final long position;
        private final long vtable;
        private final int vtableSize;
        private final int size;

        Table(long position) {
            spend(TABLE_COST);
            this.position = require("table", position, 4);
            vtable = position - FlatBuffer.this.i32("table", position);
            vtableSize = u16("vtable", vtable);
            size = u16("vtable", vtable + 2);
            require("vtable", vtable, vtableSize);
            require("table", position, size);
            if (vtableSize < 4 || size < 4) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "table at %d has %d bytes and a vtable of %d, which is too small"
                                .formatted(position, size, vtableSize));
            }
        }

        /** Returns the position of a field of a size, or -1 when absent. */
        private long find(String what, int slot, int bytesNeeded) {
            int entry = 4 + 2 * slot;
            int offset = entry + 2 > vtableSize ? 0 : u16(what, vtable + entry);
            if (offset == 0) {
                return -1;
            }
            if (offset < 4 || offset + bytesNeeded > size) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "%s at offset %d is outside of its table of %d bytes".formatted(what, offset, size));
            }
            return position + offset;
        }

        /**
         * Returns whether a field is present.
         *
         * @param what the field's name
         * @param slot the field's number
         * @return true if present
         */
        public boolean has(String what, int slot) {
            return find(what, slot, 1) >= 0;
        }

        /**
         * Reads a byte.
         *
         * @param what the field's name
         * @param slot the field's number
         * @return 0 to 255; 0 when absent
         */
        public int u8(String what, int slot) {
            long at = find(what, slot, 1);
            return at < 0 ? 0 : bytes.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
        }

        /**
         * Reads 32 bits.
         *
         * @param what the field's name
         * @param slot the field's number
         * @param absent the value of an absent field
         * @return the value
         */
        public int i32(String what, int slot, int absent) {
            long at = find(what, slot, 4);
            return at < 0 ? absent : FlatBuffer.this.i32(what, at);
        }

        /**
         * Reads 64 bits.
         *
         * @param what the field's name
         * @param slot the field's number
         * @return the value; 0 when absent
         */
        public long i64(String what, int slot) {
            long at = find(what, slot, 8);
            return at < 0 ? 0 : bytes.get(I64, require(what, at, 8));
        }

        /**
         * Reads a struct.
         *
         * @param what the field's name
         * @param slot the field's number
         * @param size the bytes of the struct
         * @return a view of the bytes; null when absent
         */
        public @Nullable MemorySegment struct(String what, int slot, int size) {
            long at = find(what, slot, size);
            return at < 0 ? null : bytes.asSlice(at, size);
        }

        /**
         * Reads a string.
         *
         * @param what the field's name
         * @param slot the field's number
         * @return the text; empty when absent
         */
        public String string(String what, int slot) {
            long at = find(what, slot, 4);
            return at < 0 ? "" : FlatBuffer.this.string(what, follow(what, at));
        }

        /**
         * Reads a descriptive string, truncated.
         *
         * @param what the field's name
         * @param slot the field's number
         * @param maxBytes the most bytes to read
         * @return the text, "..." in place of the cut part; empty when absent
         */
        public String string(String what, int slot, int maxBytes) {
            long at = find(what, slot, 4);
            return at < 0 ? "" : FlatBuffer.this.string(what, follow(what, at), maxBytes);
        }

        /**
         * Returns the buffer of this table.
         *
         * @return the buffer
         */
        public FlatBuffer buffer() {
            return FlatBuffer.this;
        }

        /**
         * Reads the table referred to by a field.
         *
         * @param what the field's name
         * @param slot the field's number
         * @return the table; null when absent
         */
        public @Nullable Table table(String what, int slot) {
            long at = find(what, slot, 4);
            return at < 0 ? null : new Table(follow(what, at));
        }

        /**
         * Reads a vector.
         *
         * @param what the field's name
         * @param slot the field's number
         * @param elementBytes bytes of an element
         * @param maxCount the most elements allowed
         * @return the vector; an empty vector when absent
         * @throws IreeException RESOURCE_EXHAUSTED when the vector has more elements
         */
        public Vector vector(String what, int slot, int elementBytes, int maxCount) {
            long at = find(what, slot, 4);
            return at < 0
                    ? new Vector(what, 0, 0, elementBytes)
                    : vectorAt(what, follow(what, at), elementBytes, maxCount);
        }

        private Vector vectorAt(String what, long at, int elementBytes, int maxCount) {
            long count = u32(what, at);
            require(what, at + 4, count * elementBytes);
            if (count > maxCount) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s has %d elements, more than the limit of %d".formatted(what, count, maxCount));
            }
            return new Vector(what, at + 4, (int) count, elementBytes);
        }
    }

    /** A vector of scalars, structs or offsets, all of the same size. */
    public final class Vector {
        private final String what;
        private final long start;
        private final int count;
        private final int elementBytes;

        Vector(String what, long start, int count, int elementBytes) {
            this.what = what;
            this.start = start;
            this.count = count;
            this.elementBytes = elementBytes;
            spend((long) count * Math.min(elementBytes, 4));
        }

        /**
         * Returns the number of elements.
         *
         * @return elements
         */
        public int count() {
            return count;
        }

        /**
         * Reads the table referred to by an element.
         *
         * @param index the element's index
         * @return the table
         */
        public Table table(int index) {
            return new Table(follow(what, at(index)));
        }

        /**
         * Reads the string referred to by an element.
         *
         * @param index the element's index
         * @return the text
         */
        public String string(int index) {
            return FlatBuffer.this.string(what, follow(what, at(index)));
        }

        /**
         * Reads 32 bits of an element.
         *
         * @param index the element's index
         * @param offset byte in the element
         * @return the value
         */
        public int i32(int index, int offset) {
            return FlatBuffer.this.i32(what, at(index) + offset);
        }

        /**
         * Reads 16 bits of an element.
         *
         * @param index the element's index
         * @param offset byte in the element
         * @return the value
         */
        public int u16(int index, int offset) {
            return FlatBuffer.this.u16(what, at(index) + offset);
        }

        /**
         * Reads a byte of an element.
         *
         * @param index the element's index
         * @return 0 to 255
         */
        public int u8(int index) {
            return bytes.get(ValueLayout.JAVA_BYTE, require(what, at(index), 1)) & 0xFF;
        }

        /**
         * Returns the elements.
         *
         * @return a view of the elements' bytes
         */
        public MemorySegment bytes() {
            return bytes.asSlice(start, (long) count * elementBytes);
        }

        private long at(int index) {
            if (index < 0 || index >= count) {
                throw IreeException.of(
                        StatusCode.OUT_OF_RANGE, "index %d is outside of %s of %d".formatted(index, what, count));
            }
            return start + (long) index * elementBytes;
        }
    }
}

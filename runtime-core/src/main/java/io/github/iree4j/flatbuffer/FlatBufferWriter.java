package io.github.iree4j.flatbuffer;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes a FlatBuffer from a tree of nodes.
 *
 * <p>Nodes are laid out breadth first, so that every reference points forward, and each table is preceded by a separate
 * vtable. Positions are aligned relative to the first byte: the size prefix if there is a prefix, since a module file
 * begins there. Output is deterministic.
 */
public final class FlatBufferWriter {

    /** A part of the buffer that other parts refer to. */
    public abstract static sealed class Node permits Table, Bytes, Text, References {
        /** The position that references point to; set when the layout is made. */
        int position;

        private Node() {}

        /** Places this node at {@code cursor} and returns the earliest position for the next node. */
        abstract long place(long cursor);

        abstract void write(ByteBuffer out);

        List<? extends Node> children() {
            return List.of();
        }
    }

    private record Scalar(int size, long value) {}

    private record Struct(int[] values) {}

    /** A table; fields not set are absent. */
    public static final class Table extends Node {
        private final TreeMap<Integer, Object> fields = new TreeMap<>();
        private int[] offsets = {};
        private int size;
        private int vtable;

        /** Creates a table without fields. */
        public Table() {}

        /**
         * Sets a field of 8 bits.
         *
         * @param slot the field's number
         * @param value the field's value
         * @return this table
         */
        public Table u8(int slot, int value) {
            fields.put(slot, new Scalar(1, value));
            return this;
        }

        /**
         * Sets a field of 32 bits.
         *
         * @param slot the field's number
         * @param value the field's value
         * @return this table
         */
        public Table u32(int slot, int value) {
            fields.put(slot, new Scalar(4, value));
            return this;
        }

        /**
         * Sets a field of 64 bits.
         *
         * @param slot the field's number
         * @param value the field's value
         * @return this table
         */
        public Table u64(int slot, long value) {
            fields.put(slot, new Scalar(8, value));
            return this;
        }

        /**
         * Sets a field holding a struct of 32-bit values.
         *
         * @param slot the field's number
         * @param values the values
         * @return this table
         */
        public Table struct(int slot, int... values) {
            fields.put(slot, new Struct(values));
            return this;
        }

        /**
         * Sets a field referring to a node.
         *
         * @param slot the field's number
         * @param node the node; other fields may refer to the same node
         * @return this table
         */
        public Table node(int slot, Node node) {
            fields.put(slot, node);
            return this;
        }

        /**
         * Sets a field referring to a string.
         *
         * @param slot the field's number
         * @param value the text
         * @return this table
         */
        public Table text(int slot, String value) {
            return node(slot, new Text(value));
        }

        /**
         * Sets a field referring to a vector of tables. Without tables the field stays absent, as in compiler output.
         *
         * @param slot the field's number
         * @param tables the tables
         * @return this table
         */
        public Table tables(int slot, List<Table> tables) {
            return tables.isEmpty() ? this : node(slot, new Tables(tables));
        }

        @Override
        long place(long cursor) {
            int slots = fields.isEmpty() ? 0 : fields.lastKey() + 1;
            offsets = new int[slots];
            int alignment = 4;
            int at = 4;
            for (Map.Entry<Integer, Object> field : fields.entrySet()) {
                int fieldAlignment = field.getValue() instanceof Scalar scalar ? scalar.size() : 4;
                alignment = Math.max(alignment, fieldAlignment);
                at = (int) align(at, fieldAlignment);
                offsets[field.getKey()] = at;
                at += field.getValue() instanceof Struct struct ? 4 * struct.values().length : fieldAlignment;
            }
            size = at;
            long vtableAt = align(cursor, 2);
            long tableAt = align(vtableAt + 4 + 2L * slots, alignment);
            vtable = (int) vtableAt;
            position = (int) tableAt;
            return tableAt + size;
        }

        @Override
        void write(ByteBuffer out) {
            out.putShort(vtable, (short) (4 + 2 * offsets.length));
            out.putShort(vtable + 2, (short) size);
            for (int i = 0; i < offsets.length; i++) {
                out.putShort(vtable + 4 + 2 * i, (short) offsets[i]);
            }
            out.putInt(position, position - vtable);
            for (Map.Entry<Integer, Object> field : fields.entrySet()) {
                int at = position + offsets[field.getKey()];
                switch (field.getValue()) {
                    case Scalar scalar -> {
                        switch (scalar.size()) {
                            case 1 -> out.put(at, (byte) scalar.value());
                            case 4 -> out.putInt(at, (int) scalar.value());
                            default -> out.putLong(at, scalar.value());
                        }
                    }
                    case Struct struct -> {
                        for (int i = 0; i < struct.values().length; i++) {
                            out.putInt(at + 4 * i, struct.values()[i]);
                        }
                    }
                    case Node node -> out.putInt(at, node.position - at);
                    default -> throw new AssertionError(field);
                }
            }
        }

        @Override
        List<Node> children() {
            List<Node> children = new ArrayList<>();
            for (Object field : fields.values()) {
                if (field instanceof Node node) {
                    children.add(node);
                }
            }
            return children;
        }
    }

    /** A vector of bytes or of structs given as bytes. */
    public static final class Bytes extends Node {
        private final byte[] data;
        private final int count;
        private final int alignment;

        /**
         * Creates a vector.
         *
         * @param data the elements' bytes
         * @param elementSize bytes of an element
         * @param alignment of the first element in the file, a power of two of at least 4
         */
        public Bytes(byte[] data, int elementSize, int alignment) {
            this.data = data;
            this.count = data.length / elementSize;
            this.alignment = Math.max(4, alignment);
        }

        @Override
        long place(long cursor) {
            long first = align(cursor + 4, alignment);
            position = (int) (first - 4);
            return first + data.length;
        }

        @Override
        void write(ByteBuffer out) {
            out.putInt(position, count).put(position + 4, data);
        }
    }

    /** A string, NUL-terminated as the format requires. */
    public static final class Text extends Node {
        private final byte[] data;

        /**
         * Creates a string.
         *
         * @param value the text
         */
        public Text(String value) {
            data = value.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        long place(long cursor) {
            long at = align(cursor, 4);
            position = (int) at;
            return at + 4 + data.length + 1;
        }

        @Override
        void write(ByteBuffer out) {
            out.putInt(position, data.length).put(position + 4, data);
        }
    }

    /** A vector of references. */
    public static sealed class References extends Node permits Tables, Texts {
        private final List<? extends Node> elements;

        private References(List<? extends Node> elements) {
            this.elements = List.copyOf(elements);
        }

        @Override
        long place(long cursor) {
            long at = align(cursor, 4);
            position = (int) at;
            return at + 4 + 4L * elements.size();
        }

        @Override
        void write(ByteBuffer out) {
            out.putInt(position, elements.size());
            int at = position + 4;
            for (Node element : elements) {
                at += 4;
                out.putInt(at - 4, element.position - (at - 4));
            }
        }

        @Override
        List<? extends Node> children() {
            return elements;
        }
    }

    /** A vector of references to tables. */
    public static final class Tables extends References {
        /**
         * Creates a vector.
         *
         * @param tables the tables
         */
        public Tables(List<Table> tables) {
            super(tables);
        }
    }

    /** A vector of references to strings. */
    public static final class Texts extends References {
        /**
         * Creates a vector.
         *
         * @param texts the strings
         */
        public Texts(List<String> texts) {
            super(texts.stream().map(Text::new).toList());
        }
    }

    private static final int SIZE_PREFIX = 4;
    private static final int HEADER = 4 + 4;

    private FlatBufferWriter() {}

    /**
     * Writes a buffer with a size prefix.
     *
     * @param root the root table
     * @param identifier four characters
     * @param alignment rounds up the length of the result; a power of two
     * @return size prefix and buffer
     */
    public static byte[] writeSized(Table root, String identifier, int alignment) {
        ByteBuffer out = write(root, identifier, alignment, SIZE_PREFIX);
        return out.putInt(0, out.capacity() - SIZE_PREFIX).array();
    }

    /**
     * Writes a buffer.
     *
     * @param root the root table
     * @param identifier four characters
     * @param alignment rounds up the length of the result; a power of two
     * @return the buffer
     */
    public static byte[] write(Table root, String identifier, int alignment) {
        return write(root, identifier, alignment, 0).array();
    }

    private static ByteBuffer write(Table root, String identifier, int alignment, int start) {
        List<Node> order = new ArrayList<>();
        ArrayDeque<Node> pending = new ArrayDeque<>(List.of(root));
        long cursor = (long) start + HEADER;
        while (!pending.isEmpty()) {
            Node node = pending.remove();
            order.add(node);
            cursor = node.place(cursor);
            if (cursor > Integer.MAX_VALUE - 64) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "module tables need more than 2 GiB; place large rodata outside of them with 'external'");
            }
            pending.addAll(node.children());
        }
        ByteBuffer out = ByteBuffer.allocate((int) align(cursor, alignment)).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(start, root.position - start);
        out.put(start + 4, identifier.getBytes(StandardCharsets.US_ASCII));
        for (Node node : order) {
            node.write(out);
        }
        return out;
    }

    /**
     * Rounds up.
     *
     * @param value the value to round
     * @param alignment a power of two
     * @return the next multiple
     */
    public static long align(long value, long alignment) {
        return value + alignment - 1 & -alignment;
    }
}

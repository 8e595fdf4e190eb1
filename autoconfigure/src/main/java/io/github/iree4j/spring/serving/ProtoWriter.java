package io.github.iree4j.spring.serving;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Writes a message in the binary format of Protocol Buffers. Fields with the default value are left out. */
final class ProtoWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    ProtoWriter string(int field, String text) {
        return text.isEmpty() ? this : element(field, text);
    }

    /** Writes an element of a repeated field, even an empty element. */
    ProtoWriter element(int field, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        length(field, bytes.length);
        out.writeBytes(bytes);
        return this;
    }

    ProtoWriter varint(int field, long value) {
        if (value != 0) {
            raw((long) field << 3 | ProtoReader.VARINT);
            raw(value);
        }
        return this;
    }

    ProtoWriter bool(int field, boolean value) {
        return varint(field, value ? 1 : 0);
    }

    /** Writes the numbers of a repeated field, packed. */
    ProtoWriter packed(int field, Iterable<Long> values) {
        ProtoWriter numbers = new ProtoWriter();
        values.forEach(numbers::raw);
        if (numbers.size() > 0) {
            length(field, numbers.size());
            out.writeBytes(numbers.toByteArray());
        }
        return this;
    }

    ProtoWriter message(int field, Consumer<ProtoWriter> contents) {
        ProtoWriter message = new ProtoWriter();
        contents.accept(message);
        length(field, message.size());
        out.writeBytes(message.toByteArray());
        return this;
    }

    /** Writes the tag and length of bytes that follow. */
    ProtoWriter length(int field, long bytes) {
        raw((long) field << 3 | ProtoReader.BYTES);
        raw(bytes);
        return this;
    }

    private void raw(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            out.write((int) rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        out.write((int) rest);
    }

    int size() {
        return out.size();
    }

    byte[] toByteArray() {
        return out.toByteArray();
    }
}

package io.github.iree4j.flight;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes a message of Protocol Buffers. Confined to one thread. */
final class ProtoWriter {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int BYTES = 2;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    ProtoWriter number(int field, long value) {
        varint((long) field << 3 | VARINT);
        varint(value);
        return this;
    }

    ProtoWriter fixed(int field, long value) {
        varint((long) field << 3 | FIXED64);
        for (int i = 0; i < Long.SIZE; i += Byte.SIZE) {
            bytes.write((int) (value >>> i));
        }
        return this;
    }

    ProtoWriter text(int field, String value) {
        return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    ProtoWriter message(int field, ProtoWriter value) {
        return bytes(field, value.bytes.toByteArray());
    }

    private ProtoWriter bytes(int field, byte[] value) {
        varint((long) field << 3 | BYTES);
        varint(value.length);
        bytes.writeBytes(value);
        return this;
    }

    private void varint(long value) {
        long left = value;
        while ((left & ~0x7FL) != 0) {
            bytes.write((int) (left & 0x7F | 0x80));
            left >>>= 7;
        }
        bytes.write((int) left);
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }
}

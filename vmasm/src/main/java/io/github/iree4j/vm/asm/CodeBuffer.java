package io.github.iree4j.vm.asm;

import java.util.Arrays;

/** Bytes being assembled, little-endian. */
final class CodeBuffer {

    private byte[] bytes = new byte[256];
    private int size;

    int size() {
        return size;
    }

    void u8(int value) {
        reserve(1);
        bytes[size++] = (byte) value;
    }

    void u16(int value) {
        u8(value);
        u8(value >> 8);
    }

    void u32(int value) {
        u16(value);
        u16(value >> 16);
    }

    void u64(long value) {
        u32((int) value);
        u32((int) (value >> 32));
    }

    void bytes(byte[] value) {
        reserve(value.length);
        System.arraycopy(value, 0, bytes, size, value.length);
        size += value.length;
    }

    /** Pads with zeros to a multiple of {@code alignment}. */
    void align(int alignment) {
        while (size % alignment != 0) {
            u8(0);
        }
    }

    /** Overwrites four bytes. */
    void patch(int position, int value) {
        for (int i = 0; i < 4; i++) {
            bytes[position + i] = (byte) (value >> 8 * i);
        }
    }

    byte[] toByteArray() {
        return Arrays.copyOf(bytes, size);
    }

    private void reserve(int count) {
        if (count > bytes.length - size) {
            bytes = Arrays.copyOf(bytes, Math.max(Math.addExact(size, count), (int)
                    Math.min(2L * bytes.length, Integer.MAX_VALUE - 8)));
        }
    }
}

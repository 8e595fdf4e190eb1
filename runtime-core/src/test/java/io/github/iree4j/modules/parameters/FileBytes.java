package io.github.iree4j.modules.parameters;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Little-endian bytes of a file, written field by field as in a specification. */
final class FileBytes {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    FileBytes u8(int... values) {
        for (int value : values) {
            out.write(value);
        }
        return this;
    }

    FileBytes u32(int... values) {
        for (int value : values) {
            bytes(ByteBuffer.allocate(4)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(value)
                    .array());
        }
        return this;
    }

    FileBytes u64(long... values) {
        for (long value : values) {
            bytes(ByteBuffer.allocate(8)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(value)
                    .array());
        }
        return this;
    }

    FileBytes f32(float... values) {
        for (float value : values) {
            u32(Float.floatToRawIntBits(value));
        }
        return this;
    }

    FileBytes text(String text) {
        return bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /** A GGUF string: the length and the bytes. */
    FileBytes string(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return u64(bytes.length).bytes(bytes);
    }

    FileBytes bytes(byte[] bytes) {
        out.writeBytes(bytes);
        return this;
    }

    FileBytes zeros(int count) {
        return bytes(new byte[count]);
    }

    FileBytes align(int alignment) {
        return zeros(Math.floorMod(-out.size(), alignment));
    }

    int size() {
        return out.size();
    }

    byte[] toArray() {
        return out.toByteArray();
    }

    Path write(Path path) {
        try {
            return Files.write(path, toArray());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A safetensors file of a header and data. */
    static FileBytes safetensors(String header, int dataBytes) {
        FileBytes bytes = new FileBytes()
                .u64(header.getBytes(StandardCharsets.UTF_8).length)
                .text(header);
        for (int i = 0; i < dataBytes; i++) {
            bytes.u8(i);
        }
        return bytes;
    }
}

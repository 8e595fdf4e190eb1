package io.github.iree4j.spring.serving;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads a message in the binary format of Protocol Buffers, field by field, as bytes arrive. Lengths are claims:
 * allocated memory exceeds the bytes read by at most 8 KB. The bytes of a field can be read as a stream, which the
 * library's {@code CodedInputStream}, reading ahead, does not offer: tensors would be copied an additional time.
 */
final class ProtoReader {

    /** Wire types. */
    static final int VARINT = 0;

    static final int FIXED64 = 1;
    static final int BYTES = 2;
    static final int FIXED32 = 5;

    private static final int MAX_VARINT = 10;
    private static final int MAX_STRING = 1 << 16;

    private final String message;
    private final InputStream in;
    private final long length;
    private long left;
    private int tag;

    /**
     * Creates a reader.
     *
     * @param message names the message in failures
     * @param in the message; not closed
     * @param length the message's length in bytes; the message may also end with the stream
     */
    ProtoReader(String message, InputStream in, long length) {
        this.message = message;
        this.in = in;
        this.length = length;
        this.left = length;
    }

    /** Reads the next field's number and type; false at the end of the message. */
    boolean next() throws IOException {
        int first = left == 0 ? -1 : in.read();
        if (first < 0) {
            return false;
        }
        left--;
        long read = varint(first);
        if (read >>> 3 == 0 || read > 0xFFFF_FFFFL) {
            throw invalid("has a field with number %d".formatted(read >>> 3));
        }
        tag = (int) read;
        return true;
    }

    /** The number of the current field. */
    int field() {
        return tag >>> 3;
    }

    /** The wire type of the current field. */
    int type() {
        return tag & 7;
    }

    private int read() throws IOException {
        int read = left == 0 ? -1 : in.read();
        if (read < 0) {
            throw invalid("ends within field %d".formatted(field()));
        }
        left--;
        return read;
    }

    private long varint(int first) throws IOException {
        long value = first & 0x7F;
        int part = first;
        for (int i = 1; (part & 0x80) != 0; i++) {
            if (i == MAX_VARINT) {
                throw invalid("has a number of more than %d bytes".formatted(MAX_VARINT));
            }
            part = read();
            value |= (long) (part & 0x7F) << 7 * i;
        }
        return value;
    }

    /** Reads a number of variable length. */
    long varint() throws IOException {
        expect(VARINT);
        return varint(read());
    }

    /** Reads a number of variable length from a packed field. */
    long number() throws IOException {
        return varint(read());
    }

    /** Reads the bits of a number of 4 or 8 bytes. */
    long fixed() throws IOException {
        int bytes = type() == FIXED32 ? Integer.BYTES : Long.BYTES;
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value |= (long) read() << 8 * i;
        }
        return value;
    }

    /** Begins to read bytes; returns the number of bytes, all within the message. */
    long length() throws IOException {
        expect(BYTES);
        long length = varint(read());
        if (length < 0 || length > left) {
            throw invalid("has %s bytes in field %d, but %d are left"
                    .formatted(Long.toUnsignedString(length), field(), left));
        }
        return length;
    }

    /** Reads bytes into memory that grows with the bytes read. */
    byte[] bytes() throws IOException {
        long length = length();
        if (length > Integer.MAX_VALUE - 64) {
            throw invalid("has %d bytes in field %d".formatted(length, field()));
        }
        byte[] bytes = in.readNBytes((int) length);
        if (bytes.length < length) {
            throw invalid("ends within field %d".formatted(field()));
        }
        left -= length;
        return bytes;
    }

    /** Returns the bytes of the current field as a stream; reading the stream advances the reader. */
    InputStream stream(long length) {
        return new InputStream() {
            private long rest = length;

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
            }

            @Override
            public int read(byte[] target, int offset, int wanted) throws IOException {
                if (rest == 0) {
                    return wanted == 0 ? 0 : -1;
                }
                int read = in.read(target, offset, (int) Math.min(wanted, rest));
                if (read > 0) {
                    rest -= read;
                    left -= read;
                }
                return read;
            }
        };
    }

    /** Skips bytes. */
    void skip(long length) throws IOException {
        if (stream(length).transferTo(OutputStream.nullOutputStream()) < length) {
            throw invalid("ends within field %d".formatted(field()));
        }
    }

    /** Returns the number of bytes read. */
    long position() {
        return length - left;
    }

    /** Reads a text. */
    String string() throws IOException {
        byte[] bytes = bytes();
        if (bytes.length > MAX_STRING) {
            throw invalid(
                    "has a text of %d bytes in field %d; the limit is %d".formatted(bytes.length, field(), MAX_STRING));
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw invalid("has a text in field %d that is not UTF-8".formatted(field()));
        }
    }

    /** Skips the value of the current field. */
    void skip() throws IOException {
        switch (type()) {
            case VARINT -> varint(read());
            case FIXED64, FIXED32 -> fixed();
            case BYTES -> skip(length());
            default -> throw invalid("has field %d of type %d".formatted(field(), type()));
        }
    }

    private void expect(int type) {
        if (type() != type) {
            throw invalid("has field %d of type %d instead of %d".formatted(field(), type(), type));
        }
    }

    RuntimeException invalid(String problem) {
        return InferenceRequest.invalid("the %s %s".formatted(message, problem));
    }
}

package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.FrontierCodec;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.InvalidInputException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.NeverFits;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Builds a frame: the head, with room for the number assigned by the {@link Outbox}, then fields. Confined to one thread. */
final class FrameWriter {
    /*
     *  0        1         2..3   4..7
     *  type  |  version | zero | number in the stream, written when sent
     */
    static final int HEAD = 8;

    /** Offset of the frame's number. */
    static final int NUMBER = 4;

    static final int VERSION = 1;

    /** Limit on the bytes of a string, whose length has 16 bits. */
    private static final int STRING_LIMIT = 0xFFFF;

    /** Limit on the bytes of a status message; longer messages are cut, and end in dots. */
    static final int MESSAGE_LIMIT = 4096;

    /** Flag of a status: the name of the lost device follows. */
    static final int DEVICE_LOST = 0x80;

    /** Flag of a status: the bytes of the request for memory follow. */
    static final int NEVER_FITS = 0x40;

    private static final byte[] DOTS = " ...".getBytes(StandardCharsets.UTF_8);

    private static final int INITIAL = 96;

    final FrameType type;
    private ByteBuffer bytes = ByteBuffer.allocate(INITIAL).order(ByteOrder.LITTLE_ENDIAN);

    FrameWriter(FrameType type) {
        this.type = type;
        bytes.put((byte) type.number).put((byte) VERSION).putShort((short) 0).putInt(0);
    }

    private ByteBuffer room(int count) {
        if (bytes.remaining() < count) {
            int size = Math.max(bytes.capacity() * 2, bytes.position() + count);
            bytes = ByteBuffer.wrap(Arrays.copyOf(bytes.array(), size))
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .position(bytes.position());
        }
        return bytes;
    }

    FrameWriter u8(int value) {
        room(1).put((byte) value);
        return this;
    }

    FrameWriter u16(int value) {
        room(2).putShort((short) value);
        return this;
    }

    FrameWriter u32(int value) {
        room(4).putInt(value);
        return this;
    }

    FrameWriter u64(long value) {
        room(8).putLong(value);
        return this;
    }

    FrameWriter bytes(byte[] value) {
        room(value.length).put(value);
        return this;
    }

    /**
     * Writes a name: whole or not at all.
     *
     * @throws IreeException INVALID_ARGUMENT when the name is too long for a frame
     */
    FrameWriter string(String value) {
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        if (text.length > STRING_LIMIT) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s: a name of %d bytes, '%s ...', the limit is %d"
                            .formatted(type, text.length, value.substring(0, 40), STRING_LIMIT));
        }
        return u16(text.length).bytes(text);
    }

    /** Writes a status, with the detail that decides the class of the failure; OK for null. */
    FrameWriter status(@Nullable IreeException failure) {
        if (failure == null) {
            return u8(StatusCode.OK.number());
        }
        int code = failure.code().number();
        DeviceLost lost = failure instanceof DeviceLostException
                ? failure.detail(DeviceLost.class).orElse(null)
                : null;
        if (lost != null) {
            return u8(code | DEVICE_LOST).message(failure.getMessage()).message(lost.device());
        }
        NeverFits never = failure instanceof InvalidInputException
                ? failure.detail(NeverFits.class).orElse(null)
                : null;
        return never != null
                ? u8(code | NEVER_FITS).message(failure.getMessage()).u64(never.bytes())
                : u8(code).message(failure.getMessage());
    }

    private FrameWriter message(String value) {
        byte[] text = value.getBytes(StandardCharsets.UTF_8);
        if (text.length <= MESSAGE_LIMIT) {
            return u16(text.length).bytes(text);
        }
        int end = MESSAGE_LIMIT - DOTS.length;
        while ((text[end] & 0xC0) == 0x80) { // inside a character
            end--;
        }
        return u16(end + DOTS.length).bytes(Arrays.copyOf(text, end)).bytes(DOTS);
    }

    FrameWriter frontier(Frontier frontier) {
        FrontierCodec.encode(frontier, room(FrontierCodec.encodedSize(frontier)));
        return this;
    }

    /** Returns the number of bytes written so far. */
    int size() {
        return bytes.position();
    }

    /** Returns the frame, from the first byte to the last. */
    ByteBuffer finish() {
        return bytes.flip();
    }
}

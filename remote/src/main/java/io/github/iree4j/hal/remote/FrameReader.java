package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.FrontierCodec;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.FailureDetail;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.NeverFits;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads the fields of a frame sent by another process. Checks every length against the bytes present. Confined to one thread. */
final class FrameReader {
    final FrameType type;
    private final ByteBuffer bytes;
    private final ByteBuffer[] rest; // of a long frame, only read by readToEnd

    /**
     * Reads the head.
     *
     * @throws IreeException DATA_LOSS for an invalid head, INCOMPATIBLE for another version except for a REJECT
     */
    FrameReader(PeerStream stream, ByteBuffer frame, ByteBuffer... rest) {
        this.bytes = frame.slice().order(ByteOrder.LITTLE_ENDIAN);
        this.rest = rest;
        if (bytes.remaining() < FrameWriter.HEAD) {
            throw IreeException.of(
                    StatusCode.DATA_LOSS,
                    "frame of %d bytes on %s; a frame begins with %d"
                            .formatted(bytes.remaining(), stream, FrameWriter.HEAD));
        }
        this.type = FrameType.of(bytes.get() & 0xFF, stream);
        int version = bytes.get() & 0xFF;
        if (version != FrameWriter.VERSION && type != FrameType.REJECT) {
            throw IreeException.of(
                    StatusCode.INCOMPATIBLE,
                    "%s of version %d, and the node that receives it reads version %d; run the same release on all nodes"
                            .formatted(type, version, FrameWriter.VERSION));
        }
        int reserved = bytes.getShort();
        if (reserved != 0) {
            throw corrupt("reserved bytes 0x" + Integer.toHexString(reserved & 0xFFFF));
        }
        bytes.position(FrameWriter.HEAD);
    }

    /** Returns the number of the frame in its stream. */
    int number() {
        return bytes.getInt(FrameWriter.NUMBER);
    }

    /** Returns a failure naming the frame and the defect. */
    IreeException corrupt(String what) {
        return IreeException.of(StatusCode.DATA_LOSS, type + ": " + what);
    }

    private void need(String field, long count) {
        if (count < 0 || count > bytes.remaining()) {
            throw corrupt("'%s' takes %d bytes at offset %d, %d are left"
                    .formatted(field, count, bytes.position(), bytes.remaining()));
        }
    }

    int remaining() {
        return bytes.remaining();
    }

    int u8(String field) {
        need(field, 1);
        return bytes.get() & 0xFF;
    }

    int u16(String field) {
        need(field, 2);
        return bytes.getShort() & 0xFFFF;
    }

    int u32(String field) {
        need(field, 4);
        return bytes.getInt();
    }

    long u64(String field) {
        need(field, 8);
        return bytes.getLong();
    }

    /** Reads a non-negative number. */
    long size(String field) {
        long value = u64(field);
        if (value < 0) {
            throw corrupt("'%s' is %s, above 2^63".formatted(field, Long.toUnsignedString(value)));
        }
        return value;
    }

    /** Checks a count of elements, each of at least the given number of bytes, against the bytes present. */
    int count(String field, int count, int bytesEach) {
        if ((long) count * bytesEach > bytes.remaining() || count < 0) {
            throw corrupt("%s '%s' of at least %d bytes each, %d bytes are left"
                    .formatted(Integer.toUnsignedString(count), field, bytesEach, bytes.remaining()));
        }
        return count;
    }

    byte[] bytes(String field, int count) {
        need(field, count);
        byte[] value = new byte[count];
        bytes.get(value);
        return value;
    }

    /** Returns the next bytes, valid as long as the frame. */
    ByteBuffer slice(String field, int count) {
        need(field, count);
        ByteBuffer part = bytes.slice(bytes.position(), count);
        bytes.position(bytes.position() + count);
        return part;
    }

    /** Returns the number of bytes up to the end of the frame, including the rest. */
    int toEnd() {
        int size = bytes.remaining();
        for (ByteBuffer each : rest) {
            size += each.remaining();
        }
        return size;
    }

    /** Reads the bytes up to the end of the frame into memory of exactly that size. */
    void readToEnd(MemorySegment target) {
        long at = copy(bytes, target, 0);
        for (ByteBuffer each : rest) {
            at = copy(each, target, at);
        }
    }

    private static long copy(ByteBuffer from, MemorySegment target, long at) {
        MemorySegment.copy(MemorySegment.ofBuffer(from), 0, target, at, from.remaining());
        return at + from.remaining();
    }

    String string(String field) {
        int length = u16(field);
        return new String(bytes(field, length), StandardCharsets.UTF_8);
    }

    /** Reads a status reported by a peer; null for OK. */
    @Nullable
    IreeException status(String said) {
        int number = u8("status");
        if (number == StatusCode.OK.number()) {
            return null;
        }
        String message = said + string("message");
        int flags = number & (FrameWriter.DEVICE_LOST | FrameWriter.NEVER_FITS);
        StatusCode code = StatusCode.of(number & ~flags);
        if (code == StatusCode.OK) {
            throw corrupt("a failure with status OK");
        }
        return IreeException.of(code, message, null, detail(flags));
    }

    private @Nullable FailureDetail detail(int flags) {
        return switch (flags) {
            case 0 -> null;
            case FrameWriter.DEVICE_LOST -> new DeviceLost(string("device"));
            case FrameWriter.NEVER_FITS -> new NeverFits(size("bytes"));
            default -> throw corrupt("two details of a status");
        };
    }

    Frontier frontier() {
        try {
            return FrontierCodec.decode(bytes);
        } catch (IreeException e) {
            throw e.during("in " + type);
        }
    }

    /** Ends the frame: no bytes may be left. */
    void end() {
        if (toEnd() > 0) {
            throw corrupt(toEnd() + " bytes behind the last field");
        }
    }
}

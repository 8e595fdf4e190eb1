package io.github.iree4j.tools.code;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads MessagePack: maps, lists, text, numbers and booleans. */
final class MessagePack {
    private static final int DEPTH_LIMIT = 32;

    private final ByteBuffer bytes;

    private MessagePack(byte[] bytes) {
        this.bytes = ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN);
    }

    /**
     * Reads a value.
     *
     * @return {@code Map}, {@code List}, {@code String}, {@code Long}, {@code Double}, {@code Boolean}, or "" for nil
     * @throws IreeException INVALID_ARGUMENT when the bytes are no MessagePack
     */
    static Object read(byte[] bytes) {
        try {
            return new MessagePack(bytes).value(0);
        } catch (BufferUnderflowException e) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "MessagePack of %d bytes is cut off".formatted(bytes.length), e);
        }
    }

    private Object value(int depth) {
        if (depth > DEPTH_LIMIT) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "MessagePack is nested more than %d deep".formatted(DEPTH_LIMIT));
        }
        int type = bytes.get() & 0xFF;
        if (type < 0x80 || type >= 0xE0) {
            return (long) (byte) type;
        }
        if (type < 0x90) {
            return map(type & 0xF, depth);
        }
        if (type < 0xA0) {
            return list(type & 0xF, depth);
        }
        if (type < 0xC0) {
            return text(type & 0x1F);
        }
        return switch (type) {
            case 0xC0 -> "";
            case 0xC2, 0xC3 -> type == 0xC3;
            case 0xC4, 0xD9 -> text(bytes.get() & 0xFF);
            case 0xC5, 0xDA -> text(bytes.getShort() & 0xFFFF);
            case 0xC6, 0xDB -> text(bytes.getInt());
            case 0xCA -> (double) bytes.getFloat();
            case 0xCB -> bytes.getDouble();
            case 0xCC -> (long) (bytes.get() & 0xFF);
            case 0xCD -> (long) (bytes.getShort() & 0xFFFF);
            case 0xCE -> bytes.getInt() & 0xFFFFFFFFL;
            case 0xCF, 0xD3 -> bytes.getLong();
            case 0xD0 -> (long) bytes.get();
            case 0xD1 -> (long) bytes.getShort();
            case 0xD2 -> (long) bytes.getInt();
            case 0xDC -> list(bytes.getShort() & 0xFFFF, depth);
            case 0xDD -> list(bytes.getInt(), depth);
            case 0xDE -> map(bytes.getShort() & 0xFFFF, depth);
            case 0xDF -> map(bytes.getInt(), depth);
            default ->
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "MessagePack has a value of unknown type 0x%02x at %d".formatted(type, bytes.position() - 1));
        };
    }

    /** Refuses a count beyond the remaining bytes before any allocation: each element takes at least a byte. */
    private int checkCount(int count) {
        if (count < 0 || count > bytes.remaining()) {
            throw new BufferUnderflowException();
        }
        return count;
    }

    private String text(int length) {
        byte[] text = new byte[checkCount(length)];
        bytes.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private List<Object> list(int count, int depth) {
        List<Object> list = new ArrayList<>();
        for (int i = checkCount(count); i > 0; i--) {
            list.add(value(depth + 1));
        }
        return list;
    }

    private Map<Object, Object> map(int count, int depth) {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int i = checkCount(count); i > 0; i--) {
            map.put(value(depth + 1), value(depth + 1));
        }
        return map;
    }
}

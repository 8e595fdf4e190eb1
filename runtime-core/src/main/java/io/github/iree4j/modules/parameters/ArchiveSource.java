package io.github.iree4j.modules.parameters;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a parameter file while the index is being read.
 *
 * @param bytes all of the file; writable when the file's parameters may be written
 * @param path the file's name in messages
 * @param owner keeps the bytes valid; null when the garbage collector does
 * @param references opens files referenced by an {@code .irpa}
 */
record ArchiveSource(
        MemorySegment bytes, Path path, @Nullable RefCounted owner, ExternalFiles references) {
    static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Longest key accepted, in bytes of UTF-8; model formats use up to a few hundred. */
    static final int MAX_KEY_BYTES = 65_536;

    /** Most parameters of a file in a format without a fixed-size index; large models have some thousands. */
    static final int MAX_PARAMETERS = 1 << 20;

    /** Most dimensions of a tensor, as in a buffer view. */
    static final int MAX_RANK = 128;

    private static final int QUOTED = 80;

    /** Creates a parameter with a range of this file as bytes; the caller has checked the range. */
    ParameterEntry.Stored stored(String key, long offset, long length, @Nullable ParameterType type) {
        return new ParameterEntry.Stored(
                key, bytes.asSlice(offset, length), owner, new ParameterOrigin(path, offset, type));
    }

    /** Reads text in UTF-8; fails for malformed text. */
    String utf8(long offset, long length, String what) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw invalid(offset, what + " is not UTF-8");
        }
    }

    /** Quotes a name for messages, whatever the name's length and contents. */
    static String quote(String name) {
        String shown = name.length() <= QUOTED ? name : name.substring(0, QUOTED) + "...";
        StringBuilder safe = new StringBuilder("'");
        shown.codePoints()
                .forEach(c -> safe.appendCodePoint(Character.isISOControl(c) || c > 0xFFFF || c == 0x2028 ? '?' : c));
        return safe.append('\'').toString();
    }

    IreeException invalid(long offset, String why) {
        return failure(StatusCode.INVALID_ARGUMENT, offset, why);
    }

    IreeException outOfRange(long offset, String why) {
        return failure(StatusCode.OUT_OF_RANGE, offset, why);
    }

    IreeException failure(StatusCode code, long offset, String why) {
        return IreeException.of(code, "parameter archive '%s', offset %d: %s".formatted(path, offset, why));
    }
}

package io.github.iree4j.flatbuffer;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The header before the FlatBuffer of an executable: identifier, version (u32, 0), size of the following content (u64),
 * zeros.
 *
 * <p>Format: {@code iree_flatbuffer_file_header_t} of IREE, since 2025; files without a header begin with the
 * FlatBuffer.
 */
public final class ExecutableHeader {
    /** Size of the header, bytes. */
    public static final int BYTES = 64;

    private static final int IDENTIFIER_BYTES = 4;
    private static final int VERSION = 4; // offset of the version
    private static final int SIZE = 8;

    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private ExecutableHeader() {}

    /**
     * Returns the content after the header.
     *
     * @param data an executable, at any alignment
     * @param identifier the identifier of the format
     * @return a slice of the data; all data when there is no header
     * @throws IreeException INVALID_ARGUMENT for a header that is cut off or announces more than available;
     *     INCOMPATIBLE for other versions
     */
    public static MemorySegment content(MemorySegment data, String identifier) {
        if (!identifier(data, 0).equals(identifier)) {
            return data;
        }
        if (data.byteSize() < BYTES) {
            throw invalid("its header of %d bytes is cut off at %d", BYTES, data.byteSize());
        }
        int version = data.get(U32, VERSION);
        if (version != 0) {
            throw IreeException.of(
                    StatusCode.INCOMPATIBLE,
                    "its header has version %s, only 0 is known; compile the program with a release of IREE that this runtime supports"
                            .formatted(Integer.toUnsignedString(version)));
        }
        long size = data.get(U64, SIZE);
        long available = data.byteSize() - BYTES;
        if (size <= 0 || size > available) {
            throw invalid("its header announces %s bytes, there are %d", Long.toUnsignedString(size), available);
        }
        return data.asSlice(BYTES, size);
    }

    /**
     * Returns the identifier at an offset: 0 of a header, 4 of a FlatBuffer.
     *
     * @param bytes any bytes
     * @param at an offset, 0 or more
     * @return four characters; empty where the bytes end before
     */
    public static String identifier(MemorySegment bytes, int at) {
        return bytes.byteSize() < at + IDENTIFIER_BYTES
                ? ""
                : new String(
                        bytes.asSlice(at, IDENTIFIER_BYTES).toArray(ValueLayout.JAVA_BYTE),
                        StandardCharsets.ISO_8859_1);
    }

    /**
     * Adds a header.
     *
     * @param content the content after the header
     * @param identifier the identifier of the format, four ASCII characters
     * @return header and content
     */
    public static byte[] before(byte[] content, String identifier) {
        ByteBuffer out = ByteBuffer.allocate(BYTES + content.length).order(ByteOrder.LITTLE_ENDIAN);
        out.put(0, identifier.getBytes(StandardCharsets.US_ASCII));
        out.putLong(SIZE, content.length);
        return out.put(BYTES, content).array();
    }

    private static IreeException invalid(String format, Object... arguments) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT, format.formatted(arguments) + "; compile the program again");
    }
}

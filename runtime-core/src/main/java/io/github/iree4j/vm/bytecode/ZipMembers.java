package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32;

/**
 * The members of a module that is also a zip file: the tables and each constant outside of the tables, stored without
 * compression. The members are listed at the end of the file (PKWARE's APPNOTE.TXT, 4.3.12 and 4.3.16; 64-bit numbers
 * in 4.3.14, 4.3.15 and 4.5.3).
 */
final class ZipMembers {
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final int LOCAL_HEADER = 0x0403_4B50;
    private static final int LOCAL_HEADER_BYTES = 30;
    private static final int ENTRY = 0x0201_4B50;
    private static final int ENTRY_BYTES = 46;
    private static final int END = 0x0605_4B50;
    private static final int END_BYTES = 22;
    private static final int LARGE_END = 0x0606_4B50;
    private static final int LARGE_END_BYTES = 56;
    private static final int LOCATOR = 0x0706_4B50; // of the 64-bit end record, before the ordinary end record
    private static final int LOCATOR_BYTES = 20;
    private static final long ELSEWHERE = 0xFFFF_FFFFL; // in place of a 64-bit number
    private static final int LARGE_NUMBERS = 1; // the extra field with 64-bit numbers
    private static final int CHUNK = 1 << 30;

    private final MemorySegment file;
    private final String name;

    private ZipMembers(MemorySegment file, String name) {
        this.file = file;
        this.name = name;
    }

    /**
     * Verifies the checksum of each member. Does nothing when the file is not a zip.
     *
     * @throws IreeException DATA_LOSS naming the differing member, or the missing part of the zip
     */
    static void check(MemorySegment file, String name) {
        if (file.byteSize() >= LOCAL_HEADER_BYTES && file.get(I32, 0) == LOCAL_HEADER) {
            new ZipMembers(file, name).check();
        }
    }

    private void check() {
        long end = end();
        long large = largeEnd(end);
        long at = large < 0 ? u32(end + 16) : file.get(I64, large + 48);
        long count = large < 0 ? u16(end + 10) : file.get(I64, large + 32);
        for (long left = count; left != 0; left--) {
            if (!has(at, ENTRY_BYTES) || file.get(I32, at) != ENTRY) {
                throw cutOff(); // a missing entry would leave a member unchecked
            }
            long extra = at + ENTRY_BYTES + u16(at + 28);
            long next = extra + u16(at + 30) + u16(at + 32);
            if (next > file.byteSize()) {
                throw cutOff();
            }
            if (u16(at + 10) == 0) { // stored; the compiler writes no other kind of entry
                check(at, extra, extra + u16(at + 30));
            }
            at = next;
        }
    }

    /** Returns the position of the end record. */
    private long end() {
        long end = file.byteSize() - END_BYTES;
        for (long least = Math.max(0, end - 0xFFFF); end >= least && file.get(I32, end) != END; end--) {
            // a comment may follow
        }
        if (end < 0 || file.get(I32, end) != END) {
            throw cutOff();
        }
        return end;
    }

    /** Returns the position of the 64-bit end record; -1 when the ordinary record is sufficient. */
    private long largeEnd(long end) {
        if (u32(end + 16) != ELSEWHERE) {
            return -1;
        }
        long locator = end - LOCATOR_BYTES;
        if (!has(locator, LOCATOR_BYTES) || file.get(I32, locator) != LOCATOR) {
            throw cutOff();
        }
        long large = file.get(I64, locator + 8);
        if (!has(large, LARGE_END_BYTES) || file.get(I32, large) != LARGE_END) {
            throw cutOff();
        }
        return large;
    }

    private void check(long entry, long extra, long extraEnd) {
        long whole = u32(entry + 24);
        long size = u32(entry + 20);
        long header = u32(entry + 42);
        long large = largeNumbers(extra, extraEnd);
        if (whole == ELSEWHERE) { // 64-bit numbers are in this order
            large += Long.BYTES;
        }
        if (size == ELSEWHERE) {
            size = large(large, extraEnd);
            large += Long.BYTES;
        }
        if (header == ELSEWHERE) {
            header = large(large, extraEnd);
        }
        if (!has(header, LOCAL_HEADER_BYTES)) {
            throw cutOff();
        }
        long contents = header + LOCAL_HEADER_BYTES + u16(header + 26) + u16(header + 28);
        if (!has(contents, size)) {
            throw cutOff();
        }
        int expected = file.get(I32, entry + 16);
        int actual = checksum(file.asSlice(contents, size));
        if (actual != expected) {
            throw IreeException.of(
                    StatusCode.DATA_LOSS,
                    "module file '%s': its member at byte %d, of %d bytes, has CRC-32 %08x instead of %08x: it is damaged; copy it again"
                            .formatted(name, contents, size, actual, expected));
        }
    }

    /** Returns the start of the 64-bit numbers; the end when there are none. */
    private long largeNumbers(long from, long to) {
        for (long at = from; to - at >= 4; at += 4 + u16(at + 2)) {
            if (u16(at) == LARGE_NUMBERS) {
                return at + 4;
            }
        }
        return to;
    }

    private long large(long at, long end) {
        if (end - at < Long.BYTES) {
            throw cutOff();
        }
        return file.get(I64, at);
    }

    private boolean has(long at, long size) {
        return at >= 0 && size >= 0 && at <= file.byteSize() && size <= file.byteSize() - at;
    }

    private long u16(long at) {
        return file.get(I16, at) & 0xFFFFL;
    }

    private long u32(long at) {
        return file.get(I32, at) & 0xFFFF_FFFFL;
    }

    private IreeException cutOff() {
        return IreeException.of(
                StatusCode.DATA_LOSS,
                "module file '%s' is a zip of %d bytes without a complete list of its members at the end: it is truncated or damaged; copy it again"
                        .formatted(name, file.byteSize()));
    }

    private static int checksum(MemorySegment bytes) {
        CRC32 sum = new CRC32();
        for (long at = 0; at < bytes.byteSize(); at += CHUNK) {
            sum.update(bytes.asSlice(at, Math.min(CHUNK, bytes.byteSize() - at)).asByteBuffer());
        }
        return (int) sum.getValue();
    }
}

package io.github.iree4j.modules.parameters;

import static io.github.iree4j.modules.parameters.IrpaFormat.DATA_ENTRY_SIZE;
import static io.github.iree4j.modules.parameters.IrpaFormat.DATA_STORAGE;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_ALIGNMENT;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_COUNT;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_HEADER_SIZE;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_NAME;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_SEGMENT;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_TYPE;
import static io.github.iree4j.modules.parameters.IrpaFormat.HEADER_SIZE;
import static io.github.iree4j.modules.parameters.IrpaFormat.HEADER_SIZE_FIELD;
import static io.github.iree4j.modules.parameters.IrpaFormat.MAGIC;
import static io.github.iree4j.modules.parameters.IrpaFormat.METADATA_SEGMENT;
import static io.github.iree4j.modules.parameters.IrpaFormat.NEXT_HEADER;
import static io.github.iree4j.modules.parameters.IrpaFormat.PREFIX_SIZE;
import static io.github.iree4j.modules.parameters.IrpaFormat.SPLAT_ENTRY_SIZE;
import static io.github.iree4j.modules.parameters.IrpaFormat.SPLAT_LENGTH;
import static io.github.iree4j.modules.parameters.IrpaFormat.SPLAT_PATTERN;
import static io.github.iree4j.modules.parameters.IrpaFormat.SPLAT_PATTERN_LENGTH;
import static io.github.iree4j.modules.parameters.IrpaFormat.STORAGE_SEGMENT;
import static io.github.iree4j.modules.parameters.IrpaFormat.TYPE_DATA;
import static io.github.iree4j.modules.parameters.IrpaFormat.TYPE_EXTERNAL;
import static io.github.iree4j.modules.parameters.IrpaFormat.TYPE_SKIP;
import static io.github.iree4j.modules.parameters.IrpaFormat.TYPE_SPLAT;
import static io.github.iree4j.modules.parameters.IrpaFormat.U16;
import static io.github.iree4j.modules.parameters.IrpaFormat.U32;
import static io.github.iree4j.modules.parameters.IrpaFormat.U64;
import static io.github.iree4j.modules.parameters.IrpaFormat.VERSION_MAJOR;
import static io.github.iree4j.modules.parameters.IrpaFormat.VERSION_MINOR;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the index of an archive whose bytes nobody vouches for.
 *
 * <p>Time and memory are linear in the size of the file, whatever it says: linked headers only lead forward, the entry tables of all
 * headers together may not hold more entries than the file has room for, and neither may the names. So tables or names that overlap in
 * order to inflate the index are rejected; no writer makes such files.
 */
final class IrpaReader {
    /** Longest key accepted, in bytes of UTF-8; model formats use up to a few hundred. */
    private static final long MAX_KEY_BYTES = 65_536;

    private final MemorySegment file;
    private final String name;
    private final @Nullable RefCounted owner;
    private final Map<String, ParameterEntry> entries = new LinkedHashMap<>();

    private long entriesLeft;
    private long keyBytesLeft;

    private IrpaReader(MemorySegment file, String name, @Nullable RefCounted owner) {
        this.file = file;
        this.name = name;
        this.owner = owner;
        this.entriesLeft = file.byteSize() / ENTRY_HEADER_SIZE;
        this.keyBytesLeft = file.byteSize();
    }

    /** Entries by key, in file order; of entries with one key the first counts, as in IREE's runtime. */
    static Map<String, ParameterEntry> read(MemorySegment file, String name, @Nullable RefCounted owner) {
        IrpaReader reader = new IrpaReader(file, name, owner);
        for (long header = 0; header >= 0; ) {
            header = reader.readHeader(header);
        }
        return reader.entries;
    }

    /** Reads the archive at {@code base} and returns where the next one starts, or -1. */
    private long readHeader(long base) {
        if (file.byteSize() - base < PREFIX_SIZE) {
            throw invalid("has %d bytes at offset %d, an archive header needs %d; the file is empty or truncated"
                    .formatted(file.byteSize() - base, base, PREFIX_SIZE));
        }
        int magic = file.get(U32, base);
        if (magic != MAGIC) {
            throw invalid(
                    "is not an .irpa archive: magic %08X at offset %d instead of %08X".formatted(magic, base, MAGIC));
        }
        int major = Short.toUnsignedInt(file.get(U16, base + VERSION_MAJOR));
        int minor = Short.toUnsignedInt(file.get(U16, base + VERSION_MINOR));
        if (major != 0 || minor != 0) {
            throw new IreeException(
                    StatusCode.INCOMPATIBLE,
                    "parameter archive '%s' has version %d.%d, this runtime reads 0.0; convert it with iree-convert-parameters"
                            .formatted(name, major, minor));
        }
        long headerSize = file.get(U64, base + HEADER_SIZE_FIELD);
        if (headerSize != HEADER_SIZE || file.byteSize() - base < HEADER_SIZE) {
            throw invalid("says its header at offset %d has %s bytes, version 0 has %d and the file has %d left"
                    .formatted(base, Long.toUnsignedString(headerSize), HEADER_SIZE, file.byteSize() - base));
        }
        MemorySegment table = segment(base, ENTRY_SEGMENT, "entry table");
        MemorySegment metadata = segment(base, METADATA_SEGMENT, "metadata segment");
        MemorySegment storage = segment(base, STORAGE_SEGMENT, "storage segment");
        readEntries(file.get(U64, base + ENTRY_COUNT), table, metadata, storage);

        long next = file.get(U64, base + NEXT_HEADER);
        if (next == 0) {
            return -1;
        }
        if (next < HEADER_SIZE || next > file.byteSize() - base - PREFIX_SIZE) {
            throw invalid("links from its header at offset %d to %s bytes further on; expected %d to %d"
                    .formatted(base, Long.toUnsignedString(next), HEADER_SIZE, file.byteSize() - base - PREFIX_SIZE));
        }
        return base + next;
    }

    private void readEntries(long count, MemorySegment table, MemorySegment metadata, MemorySegment storage) {
        if (count < 0 || count > entriesLeft) {
            throw invalid("declares %s entries where the file has room for %d"
                    .formatted(Long.toUnsignedString(count), entriesLeft));
        }
        entriesLeft -= count;
        long at = 0;
        for (long i = 0; i < count; i++) {
            long left = table.byteSize() - at;
            if (left < ENTRY_HEADER_SIZE) {
                throw outOfRange("entry %d starts %d bytes before the end of the entry table, needs %d"
                        .formatted(i, left, ENTRY_HEADER_SIZE));
            }
            long size = table.get(U64, at);
            if (size < ENTRY_HEADER_SIZE || size > left) {
                throw outOfRange("entry %d has %s bytes, expected %d to %d"
                        .formatted(i, Long.toUnsignedString(size), ENTRY_HEADER_SIZE, left));
            }
            readEntry(i, table.asSlice(at, size), metadata, storage);
            // The last entry needs no padding after it, so its aligned end may lie beyond the table.
            at = Math.min(IrpaFormat.align(at + size, ENTRY_ALIGNMENT), table.byteSize());
        }
    }

    private void readEntry(long index, MemorySegment entry, MemorySegment metadata, MemorySegment storage) {
        int type = entry.get(U32, ENTRY_TYPE);
        if (type == TYPE_SKIP) {
            return;
        }
        String key = key(index, range(entry, ENTRY_NAME, metadata, "name of entry " + index));
        range(entry, IrpaFormat.ENTRY_METADATA, metadata, "metadata of entry '" + key + "'");
        switch (type) {
            case TYPE_SPLAT -> {
                needSize(key, entry, SPLAT_ENTRY_SIZE);
                int patternLength = Byte.toUnsignedInt(entry.get(ValueLayout.JAVA_BYTE, SPLAT_PATTERN_LENGTH));
                byte[] pattern = entry.asSlice(SPLAT_PATTERN, Math.min(patternLength, 16))
                        .toArray(ValueLayout.JAVA_BYTE);
                if (patternLength > 16) {
                    throw invalid(
                            "entry '%s' has a splat pattern of %d bytes, the most is 16".formatted(key, patternLength));
                }
                long length = entry.get(U64, SPLAT_LENGTH);
                try {
                    entries.putIfAbsent(key, new ParameterEntry.Splat(key, length, pattern));
                } catch (IreeException e) {
                    throw e.during("in parameter archive '" + name + "'");
                }
            }
            case TYPE_DATA -> {
                needSize(key, entry, DATA_ENTRY_SIZE);
                MemorySegment data = range(entry, DATA_STORAGE, storage, "data of entry '" + key + "'");
                entries.putIfAbsent(key, new ParameterEntry.Stored(key, data, owner));
            }
            case TYPE_EXTERNAL ->
                throw new IreeException(
                        StatusCode.UNIMPLEMENTED,
                        ("parameter archive '%s': entry '%s' lies in another file, which is not supported; "
                                        + "pack it into one archive with iree-convert-parameters")
                                .formatted(name, key));
            default ->
                throw new IreeException(
                        StatusCode.UNIMPLEMENTED,
                        "parameter archive '%s': entry '%s' has unknown type %s"
                                .formatted(name, key, Integer.toUnsignedString(type)));
        }
    }

    private String key(long index, MemorySegment bytes) {
        long length = bytes.byteSize();
        if (length > MAX_KEY_BYTES || length > keyBytesLeft) {
            throw invalid("entry %d has a name of %d bytes; the most is %d, and %d for all names left"
                    .formatted(index, length, MAX_KEY_BYTES, keyBytesLeft));
        }
        keyBytesLeft -= length;
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toArray(ValueLayout.JAVA_BYTE)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw invalid("entry %d has a name that is not UTF-8".formatted(index));
        }
    }

    private void needSize(String key, MemorySegment entry, long size) {
        if (entry.byteSize() < size) {
            throw outOfRange("entry '%s' has %d bytes, its type needs %d".formatted(key, entry.byteSize(), size));
        }
    }

    /** The part of the file that the (offset, length) pair at {@code base + field} of a header describes. */
    private MemorySegment segment(long base, long field, String what) {
        long offset = file.get(U64, base + field);
        long length = file.get(U64, base + field + 8);
        return slice(file.asSlice(base), offset, length, what);
    }

    /** The part of {@code within} that the (offset, length) pair at {@code field} of an entry describes. */
    private MemorySegment range(MemorySegment entry, long field, MemorySegment within, String what) {
        return slice(within, entry.get(U64, field), entry.get(U64, field + 8), what);
    }

    private MemorySegment slice(MemorySegment within, long offset, long length, String what) {
        if (length == 0) {
            return within.asSlice(0, 0); // the offset of nothing means nothing
        }
        if (offset < 0 || length < 0 || offset > within.byteSize() || length > within.byteSize() - offset) {
            throw outOfRange("%s: offset %s, length %s do not fit in %d bytes"
                    .formatted(what, Long.toUnsignedString(offset), Long.toUnsignedString(length), within.byteSize()));
        }
        return within.asSlice(offset, length);
    }

    private IreeException invalid(String why) {
        return new IreeException(StatusCode.INVALID_ARGUMENT, "parameter archive '" + name + "' " + why);
    }

    private IreeException outOfRange(String why) {
        return new IreeException(StatusCode.OUT_OF_RANGE, "parameter archive '" + name + "': " + why);
    }
}

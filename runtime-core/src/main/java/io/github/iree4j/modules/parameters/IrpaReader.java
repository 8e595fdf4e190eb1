package io.github.iree4j.modules.parameters;

import static io.github.iree4j.modules.parameters.ArchiveSource.U16;
import static io.github.iree4j.modules.parameters.ArchiveSource.U32;
import static io.github.iree4j.modules.parameters.ArchiveSource.U64;
import static io.github.iree4j.modules.parameters.IrpaFormat.DATA_ENTRY_SIZE;
import static io.github.iree4j.modules.parameters.IrpaFormat.DATA_STORAGE;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_ALIGNMENT;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_COUNT;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_HEADER_SIZE;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_NAME;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_SEGMENT;
import static io.github.iree4j.modules.parameters.IrpaFormat.ENTRY_TYPE;
import static io.github.iree4j.modules.parameters.IrpaFormat.EXTERNAL_ENTRY_SIZE;
import static io.github.iree4j.modules.parameters.IrpaFormat.EXTERNAL_PATH;
import static io.github.iree4j.modules.parameters.IrpaFormat.EXTERNAL_RANGE;
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
import static io.github.iree4j.modules.parameters.IrpaFormat.VERSION_MAJOR;
import static io.github.iree4j.modules.parameters.IrpaFormat.VERSION_MINOR;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads the index of an untrusted archive.
 *
 * <p>Time and memory are linear in the size of the file, whatever the contents: linked headers only lead forward, and
 * the entries of all headers together, and likewise the names, may not exceed the room in the file. So tables or names
 * overlapping to inflate the index are rejected; no writer creates such files.
 */
final class IrpaReader {
    /** Longest name of another file, in bytes: PATH_MAX of Linux. */
    private static final long MAX_PATH_BYTES = 4096;

    private final ArchiveSource source;
    private final MemorySegment file;
    private final Map<String, ParameterEntry> entries = new LinkedHashMap<>();

    private long entriesLeft;
    private long keyBytesLeft;

    private IrpaReader(ArchiveSource source) {
        this.source = source;
        this.file = source.bytes();
        this.entriesLeft = file.byteSize() / ENTRY_HEADER_SIZE;
        this.keyBytesLeft = file.byteSize();
    }

    /** Returns the entries by key, in file order; of entries with the same key the first is used, as in IREE's runtime. */
    static Map<String, ParameterEntry> read(ArchiveSource source) {
        IrpaReader reader = new IrpaReader(source);
        for (long header = 0; header >= 0; ) {
            header = reader.readHeader(header);
        }
        return reader.entries;
    }

    /** Reads the archive at {@code base} and returns the start of the next archive, or -1. */
    private long readHeader(long base) {
        if (file.byteSize() - base < PREFIX_SIZE) {
            throw source.invalid(
                    base,
                    "%d bytes are left and an archive header needs %d; the file is empty or truncated"
                            .formatted(file.byteSize() - base, PREFIX_SIZE));
        }
        int magic = file.get(U32, base);
        if (magic != MAGIC) {
            throw source.invalid(base, "not an archive header: magic %08X instead of %08X".formatted(magic, MAGIC));
        }
        int major = Short.toUnsignedInt(file.get(U16, base + VERSION_MAJOR));
        int minor = Short.toUnsignedInt(file.get(U16, base + VERSION_MINOR));
        if (major != 0 || minor != 0) {
            throw source.failure(
                    StatusCode.INCOMPATIBLE,
                    base + VERSION_MAJOR,
                    "version %d.%d, but this runtime reads 0.0; write the archive with the tools of an IREE release that this runtime supports"
                            .formatted(major, minor));
        }
        long headerSize = file.get(U64, base + HEADER_SIZE_FIELD);
        if (headerSize != HEADER_SIZE || file.byteSize() - base < HEADER_SIZE) {
            throw source.invalid(
                    base + HEADER_SIZE_FIELD,
                    "a header of %s bytes, where version 0 has %d and the file has %d left"
                            .formatted(Long.toUnsignedString(headerSize), HEADER_SIZE, file.byteSize() - base));
        }
        MemorySegment table = segment(base, ENTRY_SEGMENT, "entry table");
        MemorySegment metadata = segment(base, METADATA_SEGMENT, "metadata segment");
        MemorySegment storage = segment(base, STORAGE_SEGMENT, "storage segment");
        readEntries(base + ENTRY_COUNT, table, metadata, storage);

        long next = file.get(U64, base + NEXT_HEADER);
        if (next == 0) {
            return -1;
        }
        if (next < HEADER_SIZE || next > file.byteSize() - base - PREFIX_SIZE) {
            throw source.invalid(
                    base + NEXT_HEADER,
                    "links to a header %s bytes further on; expected %d to %d"
                            .formatted(Long.toUnsignedString(next), HEADER_SIZE, file.byteSize() - base - PREFIX_SIZE));
        }
        return base + next;
    }

    private void readEntries(long field, MemorySegment table, MemorySegment metadata, MemorySegment storage) {
        long count = file.get(U64, field);
        if (count < 0 || count > entriesLeft) {
            throw source.invalid(
                    field,
                    "declares %s entries where the file has room for %d"
                            .formatted(Long.toUnsignedString(count), entriesLeft));
        }
        entriesLeft -= count;
        long at = 0;
        for (long i = 0; i < count; i++) {
            long left = table.byteSize() - at;
            if (left < ENTRY_HEADER_SIZE) {
                throw source.outOfRange(
                        offset(table) + at,
                        "entry %d starts %d bytes before the end of the entry table, needs %d"
                                .formatted(i, left, ENTRY_HEADER_SIZE));
            }
            long size = table.get(U64, at);
            if (size < ENTRY_HEADER_SIZE || size > left) {
                throw source.outOfRange(
                        offset(table) + at,
                        "entry %d has %s bytes, expected %d to %d"
                                .formatted(i, Long.toUnsignedString(size), ENTRY_HEADER_SIZE, left));
            }
            readEntry(i, table.asSlice(at, size), metadata, storage);
            // The last entry needs no padding, so the aligned end may lie beyond the table.
            at = Math.min(IrpaFormat.align(at + size, ENTRY_ALIGNMENT), table.byteSize());
        }
    }

    private void readEntry(long index, MemorySegment entry, MemorySegment metadata, MemorySegment storage) {
        int type = entry.get(U32, ENTRY_TYPE);
        if (type == TYPE_SKIP) {
            return;
        }
        String key = key(index, range(entry, ENTRY_NAME, metadata, "name of entry " + index));
        range(entry, IrpaFormat.ENTRY_METADATA, metadata, "metadata of entry " + ArchiveSource.quote(key));
        switch (type) {
            case TYPE_SPLAT -> entries.putIfAbsent(key, splat(key, entry));
            case TYPE_DATA -> {
                needSize(key, entry, DATA_ENTRY_SIZE);
                MemorySegment data = range(entry, DATA_STORAGE, storage, "data of entry " + ArchiveSource.quote(key));
                entries.putIfAbsent(key, source.stored(key, offset(data), data.byteSize(), null));
            }
            case TYPE_EXTERNAL -> {
                needSize(key, entry, EXTERNAL_ENTRY_SIZE);
                ParameterEntry external = external(key, entry, metadata);
                entries.putIfAbsent(key, external);
            }
            default ->
                throw source.failure(
                        StatusCode.UNIMPLEMENTED,
                        offset(entry) + ENTRY_TYPE,
                        "entry %s has unknown type %s"
                                .formatted(ArchiveSource.quote(key), Integer.toUnsignedString(type)));
        }
    }

    private ParameterEntry splat(String key, MemorySegment entry) {
        needSize(key, entry, SPLAT_ENTRY_SIZE);
        int size = Byte.toUnsignedInt(entry.get(ValueLayout.JAVA_BYTE, SPLAT_PATTERN_LENGTH));
        int most = (int) (SPLAT_PATTERN_LENGTH - SPLAT_PATTERN);
        if (size > most) {
            throw source.invalid(
                    offset(entry) + SPLAT_PATTERN_LENGTH,
                    "entry %s has a splat pattern of %d bytes, the most is %d"
                            .formatted(ArchiveSource.quote(key), size, most));
        }
        try {
            return new ParameterEntry.Splat(
                    key,
                    entry.get(U64, SPLAT_LENGTH),
                    entry.asSlice(SPLAT_PATTERN, size).toArray(ValueLayout.JAVA_BYTE));
        } catch (IreeException e) {
            throw source.failure(e.code(), offset(entry), String.valueOf(e.getMessage()));
        }
    }

    /** Creates an entry with bytes of another file. IREE's format has such entries, but IREE's runtime does not read them. */
    private ParameterEntry external(String key, MemorySegment entry, MemorySegment metadata) {
        String what = "file name of entry " + ArchiveSource.quote(key);
        MemorySegment name = range(entry, EXTERNAL_PATH, metadata, what);
        if (name.byteSize() > MAX_PATH_BYTES || name.byteSize() > keyBytesLeft) {
            throw source.invalid(
                    offset(entry) + EXTERNAL_PATH,
                    "%s has %d bytes, the most is %d".formatted(what, name.byteSize(), MAX_PATH_BYTES));
        }
        keyBytesLeft -= name.byteSize();
        long start = entry.get(U64, EXTERNAL_RANGE);
        long length = entry.get(U64, EXTERNAL_RANGE + Long.BYTES);
        try {
            MappedFile other = source.references().open(source.utf8(offset(name), name.byteSize(), what));
            long size = other.bytes().byteSize();
            if (start < 0 || length < 0 || start > size || length > size - start) {
                throw IreeException.of(
                        StatusCode.OUT_OF_RANGE,
                        "refers to offset %s, length %s of '%s', which has %d bytes"
                                .formatted(
                                        Long.toUnsignedString(start),
                                        Long.toUnsignedString(length),
                                        other.path(),
                                        size));
            }
            return new ParameterEntry.Stored(
                    key, other.bytes().asSlice(start, length), other, new ParameterOrigin(other.path(), start, null));
        } catch (IreeException e) {
            throw source.failure(
                    e.code(), offset(entry), "entry %s %s".formatted(ArchiveSource.quote(key), e.getMessage()));
        }
    }

    private String key(long index, MemorySegment bytes) {
        long length = bytes.byteSize();
        if (length > ArchiveSource.MAX_KEY_BYTES || length > keyBytesLeft) {
            throw source.invalid(
                    offset(bytes),
                    "entry %d has a name of %d bytes; the most is %d, and %d for all names left"
                            .formatted(index, length, ArchiveSource.MAX_KEY_BYTES, keyBytesLeft));
        }
        keyBytesLeft -= length;
        return source.utf8(offset(bytes), length, "name of entry " + index);
    }

    private void needSize(String key, MemorySegment entry, long size) {
        if (entry.byteSize() < size) {
            throw source.outOfRange(
                    offset(entry),
                    "entry %s has %d bytes, its type needs %d"
                            .formatted(ArchiveSource.quote(key), entry.byteSize(), size));
        }
    }

    /** Returns the part of the file described by the (offset, length) pair at {@code base + field} of a header. */
    private MemorySegment segment(long base, long field, String what) {
        long offset = file.get(U64, base + field);
        long length = file.get(U64, base + field + 8);
        return slice(base + field, file.asSlice(base), offset, length, what);
    }

    /** Returns the part of {@code within} described by the (offset, length) pair at {@code field} of an entry. */
    private MemorySegment range(MemorySegment entry, long field, MemorySegment within, String what) {
        return slice(offset(entry) + field, within, entry.get(U64, field), entry.get(U64, field + 8), what);
    }

    private MemorySegment slice(long at, MemorySegment within, long offset, long length, String what) {
        if (length == 0) {
            return within.asSlice(0, 0); // the offset of an empty range is ignored
        }
        if (offset < 0 || length < 0 || offset > within.byteSize() || length > within.byteSize() - offset) {
            throw source.outOfRange(
                    at,
                    "%s: offset %s, length %s do not fit in %d bytes"
                            .formatted(
                                    what,
                                    Long.toUnsignedString(offset),
                                    Long.toUnsignedString(length),
                                    within.byteSize()));
        }
        return within.asSlice(offset, length);
    }

    /** Returns the offset of a part of the file. */
    private long offset(MemorySegment part) {
        return part.address() - file.address();
    }
}

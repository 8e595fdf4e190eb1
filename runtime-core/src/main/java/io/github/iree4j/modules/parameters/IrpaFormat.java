package io.github.iree4j.modules.parameters;

/**
 * Layout of an IREE parameter archive, major version 0 (facts from {@code iree/schemas/parameter_archive.h}).
 * Everything is little-endian and packed; offsets in a header are relative to the header, references to names and data
 * are relative to a segment.
 */
final class IrpaFormat {
    static final int MAGIC = 0x41505249; // "IRPA"

    // Prefix, the same in every version.
    static final long PREFIX_SIZE = 32;
    static final long VERSION_MAJOR = 4;
    static final long VERSION_MINOR = 6;
    static final long HEADER_SIZE_FIELD = 8;
    static final long NEXT_HEADER = 16;

    // Header of major version 0.
    static final long HEADER_SIZE = 88;
    static final long ENTRY_COUNT = 32;
    static final long ENTRY_SEGMENT = 40;
    static final long METADATA_SEGMENT = 56;
    static final long STORAGE_SEGMENT = 72;

    // Entry header.
    static final long ENTRY_HEADER_SIZE = 60;
    static final long ENTRY_TYPE = 8;
    static final long ENTRY_NAME = 20;
    static final long ENTRY_METADATA = 36;
    static final long ENTRY_ALIGNMENT_FIELD = 52;

    static final int TYPE_SKIP = 0;
    static final int TYPE_SPLAT = 1;
    static final int TYPE_DATA = 2;
    static final int TYPE_EXTERNAL = 3;

    static final long SPLAT_ENTRY_SIZE = 85;
    static final long SPLAT_LENGTH = 60;
    static final long SPLAT_PATTERN = 68;
    static final long SPLAT_PATTERN_LENGTH = 84;

    static final long DATA_ENTRY_SIZE = 76;
    static final long DATA_STORAGE = 60;

    static final long EXTERNAL_ENTRY_SIZE = 92;
    static final long EXTERNAL_PATH = 60;
    static final long EXTERNAL_RANGE = 76;

    static final long ENTRY_ALIGNMENT = 16;
    static final long DATA_ALIGNMENT = 64;
    static final long FILE_ALIGNMENT = 4096;

    private IrpaFormat() {}

    static long align(long value, long alignment) {
        return (value + alignment - 1) & -alignment;
    }
}

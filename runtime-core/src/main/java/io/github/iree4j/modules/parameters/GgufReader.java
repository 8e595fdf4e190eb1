package io.github.iree4j.modules.parameters;

import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the index of a GGUF file, versions 2 and 3 (facts from ggml's {@code docs/gguf.md}): header, metadata, tensor
 * descriptions, data. Metadata is checked and skipped, except for the alignment.
 *
 * <p>Time and memory are linear in the size of the index, whatever the contents: counts are checked against the
 * remaining bytes before anything is allocated, and tensors may not share bytes.
 */
final class GgufReader {
    static final int MAGIC = 0x46554747; // "GGUF"

    private static final int MIN_VERSION = 2;
    private static final int MAX_VERSION = 3;
    private static final long DEFAULT_ALIGNMENT = 32;
    private static final long MAX_ALIGNMENT = 1 << 20; // of the data; usually 32, sometimes 64 or 4096
    private static final String ALIGNMENT = "general.alignment";
    private static final int MAX_DIMENSIONS = 4;

    /** Fewest bytes of a metadata entry: length of the key, type, a byte. */
    private static final int MIN_METADATA = 8 + 4 + 1;

    /** Fewest bytes of a tensor's description: length of the name, number of dimensions, type, offset. */
    private static final int MIN_TENSOR = 8 + 4 + 4 + 8;

    private static final int TYPE_U32 = 4;
    private static final int TYPE_BOOL = 7;
    private static final int TYPE_STRING = 8;
    private static final int TYPE_ARRAY = 9;

    /** Bytes of a metadata value by type; 0 for strings and arrays. */
    private static final int[] VALUE_BYTES = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

    private final ArchiveSource source;
    private final MemorySegment file;
    private final long size;
    private long at;
    private long alignment = DEFAULT_ALIGNMENT;

    /** The description of a tensor; the start of the data is known only after all descriptions. */
    private record Tensor(String key, long declaredAt, ParameterType type, long offset, long length) {}

    private GgufReader(ArchiveSource source) {
        this.source = source;
        file = source.bytes();
        size = file.byteSize();
    }

    /** Returns the entries by key, in file order. */
    static Map<String, ParameterEntry> read(ArchiveSource source) {
        return new GgufReader(source).read();
    }

    private Map<String, ParameterEntry> read() {
        at = Integer.BYTES; // the magic has been checked
        long versionAt = at;
        int version = u32("the version");
        if (version < MIN_VERSION || version > MAX_VERSION) {
            int swapped = Integer.reverseBytes(version);
            throw source.failure(
                    StatusCode.INCOMPATIBLE,
                    versionAt,
                    "GGUF version %s; this runtime reads %d and %d%s"
                            .formatted(
                                    Integer.toUnsignedString(version),
                                    MIN_VERSION,
                                    MAX_VERSION,
                                    swapped >= 1 && swapped <= MAX_VERSION
                                            ? ", little-endian, and this is a big-endian file"
                                            : "; convert the model again with a newer tool"));
        }
        long tensorsAt = at;
        long tensorCount = u64("the number of tensors");
        long metadataAt = at;
        long metadataCount = u64("the number of metadata entries");
        checkCount(metadataAt, "metadata entries", metadataCount, MIN_METADATA, Long.MAX_VALUE);
        for (long i = 0; i < metadataCount; i++) {
            metadata();
        }
        checkCount(tensorsAt, "tensors", tensorCount, MIN_TENSOR, ArchiveSource.MAX_PARAMETERS);
        List<Tensor> tensors = new ArrayList<>();
        for (long i = 0; i < tensorCount; i++) {
            tensors.add(tensor(i));
        }
        return index(tensors);
    }

    private void checkCount(long declaredAt, String what, long count, int least, long limit) {
        if (count < 0 || count > (size - at) / least) {
            throw source.invalid(
                    declaredAt,
                    "declares %s %s, and the %d bytes left have room for %d"
                            .formatted(Long.toUnsignedString(count), what, size - at, (size - at) / least));
        }
        if (count > limit) {
            throw source.failure(
                    StatusCode.RESOURCE_EXHAUSTED,
                    declaredAt,
                    "declares %d %s, the most is %d; split the file, a scope may have several"
                            .formatted(count, what, limit));
        }
    }

    private void metadata() {
        String key = string("a metadata key");
        long typeAt = at;
        int type = u32("the type of metadata " + ArchiveSource.quote(key));
        if (key.equals(ALIGNMENT)) {
            if (type != TYPE_U32) {
                throw source.invalid(
                        typeAt,
                        "'%s' has type %s, must be a 32-bit number (%d)"
                                .formatted(ALIGNMENT, Integer.toUnsignedString(type), TYPE_U32));
            }
            alignment = Integer.toUnsignedLong(u32(ALIGNMENT));
            if (alignment < 8 || alignment > MAX_ALIGNMENT || Long.bitCount(alignment) != 1) {
                throw source.invalid(
                        typeAt,
                        "'%s' is %d, must be a power of two from 8 to %d"
                                .formatted(ALIGNMENT, alignment, MAX_ALIGNMENT));
            }
            return;
        }
        if (type == TYPE_ARRAY) {
            array(key);
        } else {
            value(key, typeAt, type);
        }
    }

    private void value(String key, long typeAt, int type) {
        checkType(key, typeAt, type);
        if (type == TYPE_STRING) {
            skipString(key);
        } else {
            if (type == TYPE_BOOL) {
                checkBooleans(key, 1);
            }
            skip(VALUE_BYTES[type], key);
        }
    }

    private void array(String key) {
        long typeAt = at;
        int type = u32("the element type of metadata " + ArchiveSource.quote(key));
        long count = u64("the length of metadata " + ArchiveSource.quote(key));
        if (type == TYPE_ARRAY) {
            throw source.failure(
                    StatusCode.UNIMPLEMENTED,
                    typeAt,
                    "metadata %s is an array of arrays, which ggml does not support either"
                            .formatted(ArchiveSource.quote(key)));
        }
        checkType(key, typeAt, type);
        int least = type == TYPE_STRING ? Long.BYTES : VALUE_BYTES[type];
        if (count < 0 || count > (size - at) / least) {
            throw source.outOfRange(
                    typeAt,
                    "metadata %s has %s elements, and the %d bytes left have room for %d"
                            .formatted(
                                    ArchiveSource.quote(key),
                                    Long.toUnsignedString(count),
                                    size - at,
                                    (size - at) / least));
        }
        if (type == TYPE_STRING) {
            for (long i = 0; i < count; i++) {
                skipString(key);
            }
            return;
        }
        if (type == TYPE_BOOL) {
            checkBooleans(key, count);
        }
        skip(count * least, key);
    }

    private void checkType(String key, long typeAt, int type) {
        if (type < 0 || type >= VALUE_BYTES.length) {
            throw source.invalid(
                    typeAt,
                    "metadata %s has unknown type %s, known are 0 to %d"
                            .formatted(
                                    ArchiveSource.quote(key), Integer.toUnsignedString(type), VALUE_BYTES.length - 1));
        }
    }

    private void checkBooleans(String key, long count) {
        for (long i = at; i < at + count && i < size; i++) {
            if ((file.get(ValueLayout.JAVA_BYTE, i) & ~1) != 0) {
                throw source.invalid(
                        i, "metadata %s has a boolean that is neither 0 nor 1".formatted(ArchiveSource.quote(key)));
            }
        }
    }

    private Tensor tensor(long index) {
        String key = string("the name of tensor " + index);
        String name = ArchiveSource.quote(key);
        long start = at;
        int rank = u32("the rank of tensor " + name);
        if (rank < 0 || rank > MAX_DIMENSIONS) {
            throw source.invalid(
                    start,
                    "tensor %s has %s dimensions, the most is %d"
                            .formatted(name, Integer.toUnsignedString(rank), MAX_DIMENSIONS));
        }
        // The file has the innermost dimension first; other formats put the innermost dimension last.
        Long[] shape = new Long[rank];
        long elements = 1;
        for (int i = rank - 1; i >= 0; i--) {
            long dimensionAt = at;
            long dimension = u64("the shape of tensor " + name);
            shape[i] = dimension;
            if (dimension < 0 || dimension != 0 && elements > Long.MAX_VALUE / dimension) {
                throw source.invalid(
                        dimensionAt,
                        "tensor %s has dimension %s, which makes too many elements"
                                .formatted(name, Long.toUnsignedString(dimension)));
            }
            elements *= dimension;
        }
        long typeAt = at;
        int number = u32("the type of tensor " + name);
        GgmlType type = GgmlType.of(number);
        if (type == null) {
            throw source.failure(
                    StatusCode.UNIMPLEMENTED,
                    typeAt,
                    "tensor %s has type %s of unknown size; known types are %s"
                            .formatted(name, Integer.toUnsignedString(number), GgmlType.known()));
        }
        long inner = rank == 0 ? 1 : shape[rank - 1];
        if (inner % type.blockElements() != 0) {
            throw source.invalid(
                    typeAt,
                    "tensor %s has rows of %d elements, and %s comes in blocks of %d"
                            .formatted(name, inner, type, type.blockElements()));
        }
        long blocks = elements / type.blockElements();
        if (blocks > Long.MAX_VALUE / type.blockBytes()) {
            throw source.invalid(start, "tensor %s has %d elements, which are too many".formatted(name, elements));
        }
        long offsetAt = at;
        long offset = u64("the offset of tensor " + name);
        if (offset < 0 || offset % alignment != 0) {
            throw source.invalid(
                    offsetAt,
                    "tensor %s starts at byte %s of the data, must be a multiple of %d"
                            .formatted(name, Long.toUnsignedString(offset), alignment));
        }
        return new Tensor(
                key,
                start,
                new ParameterType(type.name(), List.of(shape), type.blockElements(), type.blockBytes() * Byte.SIZE),
                offset,
                blocks * type.blockBytes());
    }

    private Map<String, ParameterEntry> index(List<Tensor> tensors) {
        long dataStart = IrpaFormat.align(at, alignment);
        long room = Math.max(0, size - dataStart);
        Map<String, ParameterEntry> entries = new LinkedHashMap<>();
        for (Tensor tensor : tensors) {
            String name = ArchiveSource.quote(tensor.key);
            if (tensor.offset > room || tensor.length > room - tensor.offset) {
                if (tensor.length != 0) {
                    throw source.outOfRange(
                            tensor.declaredAt,
                            "tensor %s: %d bytes from byte %d on are not in the data's %d; the file is truncated"
                                    .formatted(name, tensor.length, tensor.offset, room));
                }
            }
            long start = tensor.length == 0 ? Math.min(dataStart, size) : dataStart + tensor.offset;
            if (entries.put(tensor.key, source.stored(tensor.key, start, tensor.length, tensor.type)) != null) {
                throw source.invalid(tensor.declaredAt, "tensor %s is defined twice".formatted(name));
            }
        }
        checkOverlaps(tensors);
        return entries;
    }

    private void checkOverlaps(List<Tensor> tensors) {
        List<Tensor> placed = new ArrayList<>(tensors);
        placed.removeIf(tensor -> tensor.length == 0);
        placed.sort(Comparator.comparingLong(Tensor::offset));
        for (int i = 1; i < placed.size(); i++) {
            Tensor before = placed.get(i - 1);
            Tensor tensor = placed.get(i);
            if (tensor.offset - before.offset < before.length) {
                throw source.invalid(
                        tensor.declaredAt,
                        "tensor %s starts at byte %d of the data, within %s [%d, %d)"
                                .formatted(
                                        ArchiveSource.quote(tensor.key),
                                        tensor.offset,
                                        ArchiveSource.quote(before.key),
                                        before.offset,
                                        before.offset + before.length));
            }
        }
    }

    private int u32(String what) {
        need(Integer.BYTES, what);
        int value = file.get(ArchiveSource.U32, at);
        at += Integer.BYTES;
        return value;
    }

    private long u64(String what) {
        need(Long.BYTES, what);
        long value = file.get(ArchiveSource.U64, at);
        at += Long.BYTES;
        return value;
    }

    private String string(String what) {
        long start = at;
        long length = u64(what);
        if (length < 0 || length > ArchiveSource.MAX_KEY_BYTES) {
            throw source.invalid(
                    start,
                    "%s has %s bytes, the most is %d"
                            .formatted(what, Long.toUnsignedString(length), ArchiveSource.MAX_KEY_BYTES));
        }
        need(length, what);
        String text = source.utf8(at, length, what);
        at += length;
        return text;
    }

    private void skipString(String key) {
        skip(u64(key), key);
    }

    private void skip(long bytes, String key) {
        need(bytes, ArchiveSource.quote(key));
        at += bytes;
    }

    private void need(long bytes, String what) {
        if (bytes < 0 || bytes > size - at) {
            throw source.outOfRange(
                    at,
                    "%s needs %s bytes and %d are left; the file is truncated"
                            .formatted(what, Long.toUnsignedString(bytes), size - at));
        }
    }
}

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
 * Reads the index of a safetensors file: a length of 8 bytes, a JSON object of this length, and the data.
 *
 * <p>As strict as the format's own reader (facts from the specification and from {@code huggingface/safetensors}): the
 * header has at most 100 million bytes, starts with a brace and has each key once; tensors are contiguous, without gaps
 * or overlaps, and fill the file; sizes agree with types and shapes. IREE's reader checks less.
 */
final class SafetensorsReader {
    static final long MAX_HEADER_BYTES = 100_000_000;

    private static final int LENGTH_BYTES = Long.BYTES;
    private static final String METADATA = "__metadata__";

    /** Bits per element. */
    private static final Map<String, Integer> TYPES = Map.ofEntries(
            Map.entry("BOOL", 8),
            Map.entry("F4", 4),
            Map.entry("F6_E2M3", 6),
            Map.entry("F6_E3M2", 6),
            Map.entry("U8", 8),
            Map.entry("I8", 8),
            Map.entry("F8_E5M2", 8),
            Map.entry("F8_E4M3", 8),
            Map.entry("F8_E8M0", 8),
            Map.entry("F8_E4M3FNUZ", 8),
            Map.entry("F8_E5M2FNUZ", 8),
            Map.entry("I16", 16),
            Map.entry("U16", 16),
            Map.entry("F16", 16),
            Map.entry("BF16", 16),
            Map.entry("I32", 32),
            Map.entry("U32", 32),
            Map.entry("F32", 32),
            Map.entry("C64", 64),
            Map.entry("F64", 64),
            Map.entry("I64", 64),
            Map.entry("U64", 64));

    private final ArchiveSource source;
    private final JsonReader json;
    private final long dataStart;
    private final long dataBytes;
    private final Map<String, ParameterEntry> entries = new LinkedHashMap<>();
    private final List<Extent> extents = new ArrayList<>();

    private record Extent(String key, long begin, long end, long declaredAt) {}

    /** The header entry of a tensor, as far as the entry has been read. */
    private static final class Tensor {
        String type = "";
        boolean hasShape;
        final List<Long> shape = new ArrayList<>();
        final List<Long> range = new ArrayList<>();
    }

    private SafetensorsReader(ArchiveSource source, long headerBytes) {
        this.source = source;
        dataStart = LENGTH_BYTES + headerBytes;
        dataBytes = source.bytes().byteSize() - dataStart;
        json = new JsonReader(source, LENGTH_BYTES, headerBytes);
    }

    /** Returns whether a file may be a safetensors file: the format has no magic, but there is a brace after the length. */
    static boolean looksLikeOne(MemorySegment bytes) {
        return bytes.byteSize() > LENGTH_BYTES && bytes.get(ValueLayout.JAVA_BYTE, LENGTH_BYTES) == '{';
    }

    /** Returns the entries by key, in the order of the header. */
    static Map<String, ParameterEntry> read(ArchiveSource source) {
        long length = source.bytes().get(ArchiveSource.U64, 0);
        if (length < 0 || length > MAX_HEADER_BYTES) {
            throw source.invalid(
                    0,
                    "a JSON header of %s bytes, the most is %d; is it a .safetensors file?"
                            .formatted(Long.toUnsignedString(length), MAX_HEADER_BYTES));
        }
        long room = source.bytes().byteSize() - LENGTH_BYTES;
        if (length > room) {
            throw source.outOfRange(
                    0, "a JSON header of %d bytes, and the file has %d left; it is truncated".formatted(length, room));
        }
        return new SafetensorsReader(source, length).read();
    }

    private Map<String, ParameterEntry> read() {
        json.object(this::member);
        json.end();
        checkExtents();
        return entries;
    }

    private void member(String key) {
        if (key.equals(METADATA)) {
            json.object(_ -> json.skipString());
            return;
        }
        long start = json.offset();
        if (entries.size() == ArchiveSource.MAX_PARAMETERS) {
            throw source.failure(
                    StatusCode.RESOURCE_EXHAUSTED,
                    start,
                    "more than %d tensors; split the file, a scope may have several"
                            .formatted(ArchiveSource.MAX_PARAMETERS));
        }
        Tensor tensor = new Tensor();
        json.object(field -> {
            switch (field) {
                case "dtype" -> tensor.type = json.string(64);
                case "shape" -> {
                    tensor.hasShape = true;
                    json.array(() -> size(key, "dimensions", ArchiveSource.MAX_RANK, tensor.shape));
                }
                case "data_offsets" -> json.array(() -> size(key, "data offsets", 2, tensor.range));
                default -> json.skip();
            }
        });
        add(key, tensor, start);
    }

    private void size(String key, String what, int limit, List<Long> sizes) {
        if (sizes.size() == limit) {
            throw source.invalid(
                    json.offset(), "tensor %s has more than %d %s".formatted(ArchiveSource.quote(key), limit, what));
        }
        sizes.add(json.unsigned());
    }

    private void add(String key, Tensor tensor, long start) {
        String name = ArchiveSource.quote(key);
        if (tensor.type.isEmpty() || !tensor.hasShape || tensor.range.size() != 2) {
            throw source.invalid(start, "tensor %s lacks one of dtype, shape and data_offsets".formatted(name));
        }
        Integer bits = TYPES.get(tensor.type);
        if (bits == null) {
            throw source.failure(
                    StatusCode.UNIMPLEMENTED,
                    start,
                    "tensor %s has unknown type %s".formatted(name, ArchiveSource.quote(tensor.type)));
        }
        long begin = tensor.range.getFirst();
        long end = tensor.range.getLast();
        if (begin > end || end > dataBytes) {
            throw source.outOfRange(
                    start, "tensor %s: bytes [%d, %d) are not in the data's %d".formatted(name, begin, end, dataBytes));
        }
        long size = bytes(tensor, bits);
        if (size != end - begin) {
            throw source.invalid(
                    start,
                    "tensor %s: %s of shape %s takes %s bytes and [%d, %d) has %d"
                            .formatted(
                                    name,
                                    tensor.type,
                                    tensor.shape,
                                    size < 0 ? "no whole number of" : size,
                                    begin,
                                    end,
                                    end - begin));
        }
        entries.put(
                key,
                source.stored(key, dataStart + begin, size, new ParameterType(tensor.type, tensor.shape, 1, bits)));
        extents.add(new Extent(key, begin, end, start));
    }

    /** Returns the bytes of a tensor; -1 when the number is not whole or too large. */
    private static long bytes(Tensor tensor, int bits) {
        try {
            long total = bits;
            for (long size : tensor.shape) {
                total = Math.multiplyExact(total, size);
            }
            return total % Byte.SIZE == 0 ? total / Byte.SIZE : -1;
        } catch (ArithmeticException e) {
            return -1;
        }
    }

    private void checkExtents() {
        extents.sort(Comparator.comparingLong(Extent::begin).thenComparingLong(Extent::end));
        long expected = 0;
        for (Extent extent : extents) {
            if (extent.begin != expected) {
                throw source.invalid(
                        extent.declaredAt,
                        "tensor %s starts at byte %d of the data and the one before it ends at %d; tensors must neither overlap nor leave gaps"
                                .formatted(ArchiveSource.quote(extent.key), extent.begin, expected));
            }
            expected = extent.end;
        }
        if (expected != dataBytes) {
            throw source.invalid(
                    dataStart + expected,
                    "tensors end at byte %d of the data and the file has %d; it was cut or added to"
                            .formatted(expected, dataBytes));
        }
    }
}

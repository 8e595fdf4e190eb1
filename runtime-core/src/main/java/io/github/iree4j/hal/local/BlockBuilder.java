package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.StoredBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Encodes commands that have been checked as a {@link Recording}. Retains what they use, until {@link #release}. One thread. */
final class BlockBuilder {
    /** Bounds of what a program can make a command buffer hold: 128 MiB of commands, 256 MiB of update bytes. */
    private static final int WORDS_LIMIT = 1 << 24;

    private static final long UPDATE_BYTES_LIMIT = 256L << 20;

    /** More than a command takes. */
    private static final int COMMAND_LIMIT = Recording.DISPATCH_WORDS
            + CommandBuffer.MAXIMUM_CONSTANTS / 2
            + Recording.RANGE_WORDS * (1 + CommandBuffer.MAXIMUM_BINDINGS);

    private static final int DIMENSION_Z_LIMIT = 0xFFFF;

    private long[] code = new long[32];
    private int length;
    private int[] commands = new int[4];
    private int commandCount;
    private int[] regions = new int[2]; // the first is at 0
    private int regionCount = 1; // with the one that is open
    private final List<StoredBuffer<?>> buffers = new ArrayList<>(); // fixed ones, each retained once
    private final Map<StoredBuffer<?>, Integer> bufferIndex = new IdentityHashMap<>();
    private final List<LocalExecutable> executables = new ArrayList<>(); // each retained once
    private final List<MemorySegment> updates = new ArrayList<>();
    private final BitSet usedSlots = new BitSet();
    private long updateBytes;

    /** Ends the region, so that what follows runs after what is there; an empty one only if asked for. */
    void endRegion(boolean evenIfEmpty) {
        if (evenIfEmpty || commandCount > regions[regionCount - 1]) {
            if (regionCount == regions.length) {
                regions = Arrays.copyOf(regions, regionCount * 2);
            }
            regions[regionCount++] = commandCount;
        }
    }

    /** Returns the number of the region that is open. */
    int openRegion() {
        return regionCount - 1;
    }

    void fill(BufferRef target, long pattern, int patternLength) {
        use(target);
        begin(Recording.FILL);
        emit(target);
        emit(widen(pattern, patternLength));
    }

    void update(MemorySegment source, BufferRef target) {
        if (source.byteSize() > UPDATE_BYTES_LIMIT - updateBytes) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer holds more than %d bytes of updates; copy from a buffer instead"
                            .formatted(UPDATE_BYTES_LIMIT));
        }
        use(target);
        begin(Recording.UPDATE);
        emit(target);
        emit(updates.size());
        updates.add(MemorySegment.ofArray(source.toArray(ValueLayout.JAVA_BYTE)));
        updateBytes += source.byteSize();
    }

    void copy(BufferRef source, BufferRef target) {
        use(source);
        use(target);
        begin(Recording.COPY);
        emit(source);
        emit(target);
    }

    void dispatch(
            Executable executable,
            int export,
            DispatchConfig config,
            @Nullable BufferRef workgroupCount,
            int[] constants,
            List<BufferRef> bindings) {
        ExecutableExport entry = executable.export(export);
        int program = program(executable);
        if (workgroupCount == null) {
            checkCounts(entry, config.workgroupCountX(), config.workgroupCountY(), config.workgroupCountZ());
            if (config.workgroupCountX() == 0 || config.workgroupCountY() == 0 || config.workgroupCountZ() == 0) {
                return;
            }
        }
        int sizeZ = orOne(config.workgroupSizeZ());
        if (sizeZ < 0 || sizeZ > DIMENSION_Z_LIMIT) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "workgroup size z of dispatch '%s' is %s, the limit is 65535"
                            .formatted(entry.name(), Integer.toUnsignedString(sizeZ)));
        }
        use(workgroupCount);
        bindings.forEach(this::use);
        begin(workgroupCount == null ? Recording.DISPATCH : Recording.INDIRECT);
        emit(pair(program, export));
        emit(pair(config.workgroupCountX(), config.workgroupCountY()));
        emit(pair(config.workgroupCountZ(), config.dynamicLocalMemory()));
        emit(pair(orOne(config.workgroupSizeX()), orOne(config.workgroupSizeY())));
        emit(pair(sizeZ, constants.length << 16 | bindings.size()));
        if (workgroupCount != null) {
            emit(workgroupCount);
        }
        for (int i = 0; i < constants.length; i += 2) {
            emit(pair(i + 1 < constants.length ? constants[i + 1] : 0, constants[i]));
        }
        for (BufferRef binding : bindings) {
            emit(binding);
        }
    }

    /** Notes that a range is used; what is wrong with it is thrown before anything of a command is written. */
    void use(@Nullable BufferRef ref) {
        if (ref == null) {
            return;
        }
        Buffer buffer = ref.buffer();
        if (buffer == null) {
            usedSlots.set(ref.slot());
        } else {
            fixedIndex(buffer);
        }
    }

    /** Ends the last region and returns what was recorded; it is to be used until {@link #release}. */
    Recording finish() {
        bufferIndex.clear();
        int[] starts = Arrays.copyOf(regions, regionCount + 1);
        starts[regionCount] = commandCount;
        int regionsInUse = commandCount == regions[regionCount - 1] ? regionCount - 1 : regionCount;
        return new Recording(
                Arrays.copyOf(code, length),
                Arrays.copyOf(commands, commandCount),
                Arrays.copyOf(starts, regionsInUse + 1),
                buffers.toArray(StoredBuffer<?>[]::new),
                executables.toArray(LocalExecutable[]::new),
                updates.toArray(MemorySegment[]::new),
                usedSlots.stream().toArray());
    }

    void release() {
        buffers.forEach(StoredBuffer::release);
        executables.forEach(LocalExecutable::release);
    }

    /**
     * Checks the counts of a dispatch.
     *
     * @throws IreeException OUT_OF_RANGE when there are too many
     */
    static void checkCounts(ExecutableExport entry, int x, int y, int z) {
        if (z < 0 || z > DIMENSION_Z_LIMIT) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "workgroup count z of dispatch '%s' is %s, the limit is 65535"
                            .formatted(entry.name(), Integer.toUnsignedString(z)));
        }
        long xy = Integer.toUnsignedLong(x) * Integer.toUnsignedLong(y);
        if (xy < 0 || z != 0 && xy > Long.MAX_VALUE / z) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "dispatch '%s' of %sx%sx%d workgroups exceeds 2^63 - 1"
                            .formatted(entry.name(), Integer.toUnsignedString(x), Integer.toUnsignedString(y), z));
        }
    }

    /** Repeats a pattern of 1, 2, 4 or 8 bytes to 8. */
    static long widen(long pattern, int patternLength) {
        return switch (patternLength) {
            case 1 -> (pattern & 0xFF) * 0x0101_0101_0101_0101L;
            case 2 -> (pattern & 0xFFFF) * 0x0001_0001_0001_0001L;
            case 4 -> (pattern & 0xFFFF_FFFFL) * 0x0000_0001_0000_0001L;
            default -> pattern;
        };
    }

    /** The allocation behind a buffer. */
    static LocalBuffer local(Buffer buffer) {
        if (buffer.allocatedBuffer() instanceof LocalBuffer local) {
            return local;
        }
        throw new IreeException(
                StatusCode.INVALID_ARGUMENT,
                "buffer of " + buffer.length() + " bytes was not created by the local device; import or copy it");
    }

    /** The allocation behind a buffer that kernels and transfers can use: of this driver, or of another whose memory the host sees. */
    static StoredBuffer<?> usable(Buffer buffer) {
        return buffer.allocatedBuffer() instanceof StoredBuffer<?> stored ? stored : local(buffer);
    }

    private static int orOne(int size) {
        return size == 0 ? 1 : size;
    }

    private static long pair(int upper, int lower) {
        return (long) upper << 32 | Integer.toUnsignedLong(lower);
    }

    private int program(Executable executable) {
        if (!(executable instanceof LocalExecutable local)) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "executable of format '%s' was not created by the local device".formatted(executable.format()));
        }
        int index = executables.indexOf(local);
        if (index < 0) {
            local.retain();
            index = executables.size();
            executables.add(local);
        }
        return index;
    }

    /** Begins a command, in a new region if the open one is full. */
    private void begin(int opcode) {
        if (length > WORDS_LIMIT - COMMAND_LIMIT) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer has %d words of commands, the limit; record several".formatted(length));
        }
        if (commandCount - regions[regionCount - 1] == Recording.REGION_LIMIT) {
            endRegion(false);
        }
        if (commandCount == commands.length) {
            commands = Arrays.copyOf(commands, commandCount * 2);
        }
        commands[commandCount++] = length;
        emit(opcode);
    }

    private void emit(BufferRef ref) {
        Buffer buffer = ref.buffer();
        if (buffer == null) {
            emit(ref.slot());
            emit(ref.offset());
        } else {
            emit(~fixedIndex(buffer));
            emit(buffer.offset() + ref.offset());
        }
        emit(ref.length());
    }

    private int fixedIndex(Buffer buffer) {
        StoredBuffer<?> local = usable(buffer);
        Integer known = bufferIndex.get(local);
        if (known != null) {
            return known;
        }
        local.retain();
        int index = buffers.size();
        buffers.add(local);
        bufferIndex.put(local, index);
        return index;
    }

    private void emit(long word) {
        if (length == code.length) {
            code = Arrays.copyOf(code, length * 2);
        }
        code[length++] = word;
    }
}

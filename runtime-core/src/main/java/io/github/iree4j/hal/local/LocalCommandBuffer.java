package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Commands of the local device, recorded as words. */
final class LocalCommandBuffer extends CommandBuffer {
    /*
     * A command is a word with its opcode, then its operands. A range takes three words:
     *
     *   [ slot, or ~index of a fixed buffer ] [ offset ] [ length, WHOLE possible for a slot ]
     *
     * The offset counts from the start of the allocation for a fixed buffer, from the start of the table's range for a slot.
     *
     *   BARRIER   opcode
     *   FILL      opcode, range, pattern widened to 8 bytes
     *   UPDATE    opcode, range, index of the bytes
     *   COPY      opcode, source range, target range
     *   DISPATCH  opcode, executable | export, count x | y, count z | dynamic local memory, size x | y,
     *             size z | constant count | binding count (16 bits each of the low half), constants in pairs, bindings
     *   INDIRECT  as DISPATCH, with the range of the counts in front of the constants
     *
     * where "a | b" is a in the upper and b in the lower half of a word.
     */
    static final int BARRIER = 0;
    static final int FILL = 1;
    static final int UPDATE = 2;
    static final int COPY = 3;
    static final int DISPATCH_DIRECT = 4;
    static final int DISPATCH_INDIRECT = 5;

    /** Bounds of what a program can make a command buffer hold: 128 MiB of commands, 256 MiB of update bytes. */
    private static final int WORDS_LIMIT = 1 << 24;

    private static final long UPDATE_BYTES_LIMIT = 256L << 20;

    /** Each is an operation of its own when it is executed. */
    private static final int COLLECTIVES_LIMIT = 1 << 12;

    private long[] code = new long[64];
    private int length;
    private final List<LocalBuffer> buffers = new ArrayList<>(); // fixed ones, each retained once
    private final Map<LocalBuffer, Integer> bufferIndex = new IdentityHashMap<>();
    private final List<LocalExecutable> executables = new ArrayList<>(); // each retained once
    private final List<MemorySegment> updates = new ArrayList<>();
    private final List<CollectiveCommand> collectives = new ArrayList<>(); // not in the code
    private final Set<LocalChannel> channels = Collections.newSetFromMap(new IdentityHashMap<>()); // each retained once
    private long updateBytes;
    private final AtomicBoolean submitted = new AtomicBoolean();
    private final BitSet usedSlots = new BitSet();

    // Set by finish().
    private LocalBuffer[] fixed = new LocalBuffer[0];
    private LocalExecutable[] programs = new LocalExecutable[0];
    private int[] slots = new int[0];

    LocalCommandBuffer(int modes, int categories, int bindingCapacity) {
        super(modes, categories, bindingCapacity);
    }

    long[] code() {
        return code;
    }

    LocalBuffer[] fixed() {
        return fixed;
    }

    LocalExecutable program(int index) {
        return programs[index];
    }

    MemorySegment update(int index) {
        return updates.get(index);
    }

    /** Collectives in their order. */
    List<CollectiveCommand> collectives() {
        return collectives;
    }

    /** The channels of the collectives. */
    Set<LocalChannel> channels() {
        return channels;
    }

    /** The slots that commands use, in ascending order. */
    int[] slots() {
        return slots;
    }

    /**
     * Notes a submission.
     *
     * @throws IreeException FAILED_PRECONDITION for the second one of a command buffer that may be executed once
     */
    void claimSubmission() {
        if ((modes() & ONE_SHOT) != 0 && !submitted.compareAndSet(false, true)) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "one-shot command buffer is submitted a second time; create it without ONE_SHOT to reuse it");
        }
    }

    @Override
    protected void doFinish() {
        code = Arrays.copyOf(code, length);
        fixed = buffers.toArray(LocalBuffer[]::new);
        programs = executables.toArray(LocalExecutable[]::new);
        slots = usedSlots.stream().toArray();
        bufferIndex.clear();
    }

    @Override
    protected void recordBarrier(int sourceStages, int targetStages) {
        emit(BARRIER);
    }

    @Override
    protected void recordFill(BufferRef target, long pattern, int patternLength) {
        emit(FILL);
        emit(target);
        emit(widen(pattern, patternLength));
    }

    @Override
    protected void recordUpdate(MemorySegment source, BufferRef target) {
        updateBytes += source.byteSize();
        if (updateBytes > UPDATE_BYTES_LIMIT) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer holds more than %d bytes of updates; copy from a buffer instead"
                            .formatted(UPDATE_BYTES_LIMIT));
        }
        emit(UPDATE);
        emit(target);
        emit(updates.size());
        updates.add(MemorySegment.ofArray(source.toArray(ValueLayout.JAVA_BYTE)));
    }

    @Override
    protected void recordCopy(BufferRef source, BufferRef target) {
        emit(COPY);
        emit(source);
        emit(target);
    }

    @Override
    protected void recordDispatch(
            Executable executable,
            int export,
            DispatchConfig config,
            @Nullable BufferRef workgroupCount,
            int[] constants,
            List<BufferRef> bindings,
            long flags) {
        ExecutableExport entry = executable.export(export);
        int program = program(executable);
        if (workgroupCount == null) {
            checkCounts(entry, config.workgroupCountX(), config.workgroupCountY(), config.workgroupCountZ());
            if (config.workgroupCountX() == 0 || config.workgroupCountY() == 0 || config.workgroupCountZ() == 0) {
                return;
            }
        }
        int sizeZ = orOne(config.workgroupSizeZ());
        if (sizeZ < 0 || sizeZ > 0xFFFF) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "workgroup size z of dispatch '%s' is %s, the limit is 65535"
                            .formatted(entry.name(), Integer.toUnsignedString(sizeZ)));
        }
        emit(workgroupCount == null ? DISPATCH_DIRECT : DISPATCH_INDIRECT);
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

    @Override
    protected void recordCollective(
            Channel channel,
            Collective operation,
            int parameter,
            @Nullable BufferRef source,
            @Nullable BufferRef target,
            long elementCount) {
        if (!(channel instanceof LocalChannel local)) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT, "channel was not created by the device of the command buffer");
        }
        if (collectives.size() >= COLLECTIVES_LIMIT) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer holds %d collectives, the limit; record several".formatted(COLLECTIVES_LIMIT));
        }
        use(source);
        use(target);
        if (channels.add(local)) {
            local.retain();
        }
        collectives.add(new CollectiveCommand(length, local, operation, parameter, source, target, elementCount));
    }

    private void use(@Nullable BufferRef ref) {
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

    /**
     * Checks the counts of a dispatch.
     *
     * @throws IreeException OUT_OF_RANGE when there are too many
     */
    static void checkCounts(ExecutableExport entry, int x, int y, int z) {
        if (z < 0 || z > 0xFFFF) {
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

    private void emit(BufferRef ref) {
        Buffer buffer = ref.buffer();
        if (buffer == null) {
            emit(ref.slot());
            emit(ref.offset());
            usedSlots.set(ref.slot());
        } else {
            emit(~fixedIndex(buffer));
            emit(buffer.offset() + ref.offset());
        }
        emit(ref.length());
    }

    private int fixedIndex(Buffer buffer) {
        LocalBuffer local = local(buffer);
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

    /** The allocation behind a buffer. */
    static LocalBuffer local(Buffer buffer) {
        if (buffer.allocatedBuffer() instanceof LocalBuffer local) {
            return local;
        }
        throw new IreeException(
                StatusCode.INVALID_ARGUMENT,
                "buffer of " + buffer.length() + " bytes was not created by the local device; import or copy it");
    }

    private void emit(long word) {
        if (length == code.length) {
            if (length >= WORDS_LIMIT) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "command buffer has %d words of commands, the limit; record several".formatted(length));
            }
            code = Arrays.copyOf(code, length * 2);
        }
        code[length++] = word;
    }

    @Override
    protected void destroy() {
        buffers.forEach(LocalBuffer::release);
        executables.forEach(LocalExecutable::release);
        channels.forEach(LocalChannel::release);
    }
}

package io.github.iree4j.hal.record;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.storage.StoredBuffer;
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
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Encodes checked commands as a {@link Recording}. Retains the objects used by the commands, until the recording is
 * released or the builder is abandoned. Confined to a single thread.
 *
 * <p>A builder is reused after its recording is finished, with room for the words of the next recording: programs
 * record the same commands again in each call.
 */
final class RecordingBuilder {
    /** Limits of a command buffer: 128 MiB of commands, 256 MiB of update bytes. */
    private static final int WORDS_LIMIT = 1 << 24;

    private static final int UPDATE_BYTES_LIMIT = 256 << 20;

    /** Alignment of updates. */
    private static final int UPDATE_ALIGNMENT = 16;

    /** Upper bound of the words of a command. */
    private static final int COMMAND_LIMIT = Recording.DISPATCH_WORDS
            + CommandBuffer.MAXIMUM_CONSTANTS / 2
            + Recording.RANGE_WORDS * (1 + CommandBuffer.MAXIMUM_BINDINGS);

    /** A builder with room for more words is not kept: 256 KiB. */
    private static final int KEPT_WORDS = 1 << 15;

    /** As many buffers of a recording are compared one by one, faster than hashing. */
    private static final int SCANNED = 16;

    private static final AtomicReference<@Nullable RecordingBuilder> SPARE = new AtomicReference<>();

    private @Nullable RecordingBackend backend; // null while spare: a backend may be of a closed device
    private int regionLimit;
    private long[] code = new long[64];
    private int length;
    private int[] commands = new int[8];
    private int commandCount;
    private int[] regions = new int[8]; // the first is at 0
    private int regionCount = 1; // including the open region
    private final List<StoredBuffer<?>> buffers = new ArrayList<>(); // fixed buffers, each retained once
    private final Map<StoredBuffer<?>, Integer> laterBuffers =
            new IdentityHashMap<>(); // index of buffers from SCANNED on
    private final List<Executable> executables = new ArrayList<>(); // each retained once
    private final List<byte[]> updates = new ArrayList<>(0);
    private int updateBytes; // including padding
    private final BitSet usedSlots = new BitSet();

    private RecordingBuilder(RecordingBackend backend) {
        this.backend = backend;
        this.regionLimit = backend.regionLimit();
    }

    /** Begins a recording. */
    static RecordingBuilder begin(RecordingBackend backend) {
        RecordingBuilder spare = SPARE.getAndSet(null);
        if (spare == null) {
            return new RecordingBuilder(backend);
        }
        spare.backend = backend;
        spare.regionLimit = backend.regionLimit();
        return spare;
    }

    private RecordingBackend backend() {
        return Objects.requireNonNull(backend);
    }

    /** Ends the region, so that later commands run after the region; an empty region only on request. */
    void endRegion(boolean evenIfEmpty) {
        if (evenIfEmpty || commandCount > regions[regionCount - 1]) {
            if (regionCount == regions.length) {
                regions = Arrays.copyOf(regions, regionCount * 2);
            }
            regions[regionCount++] = commandCount;
        }
    }

    /** Returns the number of the open region. */
    int openRegion() {
        return regionCount - 1;
    }

    void fill(BufferRef target, long pattern, int patternLength) {
        use(target);
        begin(Recording.FILL);
        emit(target);
        emit(Recording.widen(pattern, patternLength));
        emit(patternLength);
    }

    void update(MemorySegment source, BufferRef target) {
        if (source.byteSize() > UPDATE_BYTES_LIMIT - updateBytes) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer holds more than %d bytes of updates; copy from a buffer instead"
                            .formatted(UPDATE_BYTES_LIMIT));
        }
        use(target);
        begin(Recording.UPDATE);
        emit(target);
        emit(updateBytes);
        byte[] bytes = source.toArray(ValueLayout.JAVA_BYTE);
        updates.add(bytes);
        updateBytes += bytes.length + UPDATE_ALIGNMENT - 1 & -UPDATE_ALIGNMENT;
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
        backend().checkDispatch(executable, export, config, workgroupCount);
        if (workgroupCount == null
                && (config.workgroupCountX() == 0 || config.workgroupCountY() == 0 || config.workgroupCountZ() == 0)) {
            executable.retain(); // a closed executable is refused
            executable.release();
            return;
        }
        int index = index(executable); // retained before any use by the backend
        use(workgroupCount);
        for (int i = 0; i < bindings.size(); i++) {
            use(bindings.get(i));
        }
        int flags = backend().flags(executable, export, bindings);
        begin(workgroupCount == null ? Recording.DISPATCH : Recording.INDIRECT, flags);
        emit(pair(index, export));
        emit(pair(config.workgroupCountX(), config.workgroupCountY()));
        emit(pair(config.workgroupCountZ(), config.dynamicLocalMemory()));
        emit(pair(orOne(config.workgroupSizeX()), orOne(config.workgroupSizeY())));
        emit(pair(orOne(config.workgroupSizeZ()), constants.length << 16 | bindings.size()));
        if (workgroupCount != null) {
            emit(workgroupCount);
        }
        for (int i = 0; i < constants.length; i += 2) {
            emit(pair(i + 1 < constants.length ? constants[i + 1] : 0, constants[i]));
        }
        for (int i = 0; i < bindings.size(); i++) {
            emit(bindings.get(i));
        }
    }

    /** Registers the use of a range; throws for an invalid range before any word of the command is written. */
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

    /**
     * Returns the recording, with the last region ended.
     *
     * @return the recording; the used objects are retained by the builder until {@link #handOver}
     */
    Recording finish() {
        int[] starts = Arrays.copyOf(regions, regionCount + 1);
        starts[regionCount] = commandCount;
        int regionsInUse = commandCount == regions[regionCount - 1] ? regionCount - 1 : regionCount;
        return new Recording(
                Arrays.copyOf(code, length),
                Arrays.copyOf(commands, commandCount),
                Arrays.copyOf(starts, regionsInUse + 1),
                buffers.toArray(StoredBuffer<?>[]::new),
                executables.toArray(Executable[]::new),
                joinedUpdates(),
                slots());
    }

    private int[] slots() {
        int[] slots = new int[usedSlots.cardinality()];
        for (int i = 0, slot = -1; i < slots.length; i++) {
            slot = usedSlots.nextSetBit(slot + 1);
            slots[i] = slot;
        }
        return slots;
    }

    /** Leaves the retained objects to the finished recording. Last call: the builder is used for another recording. */
    void handOver() {
        if (code.length > KEPT_WORDS) {
            return;
        }
        length = 0;
        commandCount = 0;
        regionCount = 1;
        buffers.clear();
        if (!laterBuffers.isEmpty()) { // else cleared in a time proportional to its largest size
            laterBuffers.clear();
        }
        executables.clear();
        updates.clear();
        updateBytes = 0;
        usedSlots.clear();
        backend = null;
        SPARE.set(this);
    }

    private MemorySegment joinedUpdates() {
        if (updateBytes == 0) {
            return MemorySegment.NULL; // a dispatch without a command buffer is a recording as well
        }
        byte[] joined = new byte[updateBytes];
        int at = 0;
        for (byte[] each : updates) {
            System.arraycopy(each, 0, joined, at, each.length);
            at += each.length + UPDATE_ALIGNMENT - 1 & -UPDATE_ALIGNMENT;
        }
        return MemorySegment.ofArray(joined);
    }

    /** Releases the objects retained for an unfinished recording. */
    void abandon() {
        buffers.forEach(StoredBuffer::release);
        executables.forEach(Executable::release);
    }

    private static int orOne(int size) {
        return size == 0 ? 1 : size;
    }

    private static long pair(int upper, int lower) {
        return (long) upper << 32 | Integer.toUnsignedLong(lower);
    }

    private int index(Executable executable) {
        int index = executables.indexOf(executable);
        if (index < 0) {
            executable.retain();
            index = executables.size();
            executables.add(executable);
        }
        return index;
    }

    private void begin(int opcode) {
        begin(opcode, 0);
    }

    /** Begins a command, in a new region if the open region is full. */
    private void begin(int opcode, int flags) {
        if (length > WORDS_LIMIT - COMMAND_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer has %d words of commands, the limit; record several".formatted(length));
        }
        if (commandCount - regions[regionCount - 1] == regionLimit) {
            endRegion(false);
        }
        if (commandCount == commands.length) {
            commands = Arrays.copyOf(commands, commandCount * 2);
        }
        commands[commandCount++] = length;
        emit(pair(flags, opcode));
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

    @SuppressWarnings("ReferenceEquality") // buffers have no other equality
    private int fixedIndex(Buffer buffer) {
        StoredBuffer<?> used = backend().usable(buffer);
        int count = buffers.size();
        for (int i = Math.min(count, SCANNED) - 1; i >= 0; i--) {
            if (buffers.get(i) == used) {
                return i;
            }
        }
        Integer known = count > SCANNED ? laterBuffers.get(used) : null;
        if (known != null) {
            return known;
        }
        used.retain();
        buffers.add(used);
        if (count >= SCANNED) {
            laterBuffers.put(used, count);
        }
        return count;
    }

    private void emit(long word) {
        if (length == code.length) {
            code = Arrays.copyOf(code, length * 2);
        }
        code[length++] = word;
    }
}

package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.nativeaccess.VulkanLimits;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Encodes commands that have been checked as a {@link VulkanRecording}. Retains what they use, until {@link #release}. One thread. */
final class RecordingBuilder {
    /** Bounds of what a program can make a command buffer hold: 128 MiB of commands, 256 MiB of update bytes. */
    private static final int WORDS_LIMIT = 1 << 24;

    private static final int UPDATE_BYTES_LIMIT = 256 << 20;

    /** Updates begin at multiples. */
    private static final int UPDATE_ALIGNMENT = 16;

    /** More than a command takes. */
    private static final int COMMAND_LIMIT = VulkanRecording.DISPATCH_WORDS
            + CommandBuffer.MAXIMUM_CONSTANTS / 2
            + VulkanRecording.RANGE_WORDS * (1 + CommandBuffer.MAXIMUM_BINDINGS);

    private final VulkanDevice device;
    private final boolean oneShot;
    private long[] code = new long[32];
    private int length;
    private int[] commands = new int[4];
    private int commandCount;
    private int[] regions = new int[2]; // the first is at 0
    private int regionCount = 1; // with the one that is open
    private final List<UsedBuffer> buffers = new ArrayList<>(); // fixed ones, each retained once
    private final Map<Buffer, Integer> bufferIndex = new IdentityHashMap<>();
    private final List<VulkanKernel> kernels = new ArrayList<>();
    private final Map<VulkanKernel, Integer> kernelIndex = new IdentityHashMap<>();
    private final Map<VulkanExecutable, Boolean> executables = new IdentityHashMap<>(); // each retained once
    private final ByteArrayOutputStream updates = new ByteArrayOutputStream();
    private final BitSet usedSlots = new BitSet();
    private final BitSet writtenSlots = new BitSet(); // by shaders
    private final BitSet writtenBuffers = new BitSet(); // fixed ones, by shaders

    /**
     * Begins.
     *
     * @param oneShot whether no binding changes from one execution to the next, since there is no next
     */
    RecordingBuilder(VulkanDevice device, boolean oneShot) {
        this.device = device;
        this.oneShot = oneShot;
    }

    /** Ends the region, so that what follows runs after what is there. */
    void endRegion() {
        if (commandCount > regions[regionCount - 1]) {
            if (regionCount == regions.length) {
                regions = Arrays.copyOf(regions, regionCount * 2);
            }
            regions[regionCount++] = commandCount;
        }
    }

    void fill(BufferRef target, long pattern, int patternLength) {
        use(target);
        begin(VulkanRecording.FILL);
        emit(target);
        emit(pattern);
        emit(patternLength);
    }

    void update(MemorySegment source, BufferRef target) {
        if (source.byteSize() > UPDATE_BYTES_LIMIT - updates.size()) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer holds more than %d bytes of updates; copy from a buffer instead"
                            .formatted(UPDATE_BYTES_LIMIT));
        }
        use(target);
        begin(VulkanRecording.UPDATE);
        emit(target);
        emit(updates.size());
        updates.writeBytes(source.toArray(ValueLayout.JAVA_BYTE));
        updates.writeBytes(new byte[-updates.size() & UPDATE_ALIGNMENT - 1]);
    }

    void copy(BufferRef source, BufferRef target) {
        use(source);
        use(target);
        begin(VulkanRecording.COPY);
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
        if (!(executable instanceof VulkanExecutable own) || !own.isOf(device)) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "executable of format '%s' was not created by device '%s'"
                            .formatted(executable.format(), device.id()));
        }
        VulkanKernel kernel = own.kernel(export);
        checkConfig(kernel.export(), config);
        if (workgroupCount == null) {
            checkCounts(kernel.export(), config);
            if (config.workgroupCountX() == 0 || config.workgroupCountY() == 0 || config.workgroupCountZ() == 0) {
                return;
            }
        } else if (workgroupCount.offset() % 4 != 0
                || workgroupCount.buffer() != null && workgroupCount.buffer().offset() % 4 != 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "workgroup counts of dispatch '%s' at offset %d are not aligned to 4 bytes"
                            .formatted(kernel.export().name(), workgroupCount.offset()));
        }
        use(workgroupCount);
        bindings.forEach(this::use);
        noteWritten(kernel, bindings);
        if (executables.putIfAbsent(own, true) == null) {
            retain(own);
        }
        begin(workgroupCount == null ? VulkanRecording.DISPATCH : VulkanRecording.INDIRECT);
        emit(pair(isPushed(kernel, bindings) ? VulkanRecording.PUSHED : 0, index(kernel)));
        emit(pair(config.workgroupCountX(), config.workgroupCountY()));
        emit(pair(config.workgroupCountZ(), constants.length));
        emit(bindings.size());
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

    private void noteWritten(VulkanKernel kernel, List<BufferRef> bindings) {
        for (int i = 0; i < bindings.size(); i++) {
            if (kernel.isWritten(i)) {
                Buffer buffer = bindings.get(i).buffer();
                if (buffer == null) {
                    writtenSlots.set(bindings.get(i).slot());
                } else {
                    int index = fixedIndex(buffer);
                    buffers.get(index).checkWritable();
                    writtenBuffers.set(index);
                }
            }
        }
    }

    private void retain(VulkanExecutable executable) {
        try {
            executable.retain();
        } catch (IreeException e) {
            executables.remove(executable);
            throw e;
        }
    }

    /** Descriptors that never change are recorded; others are in sets, which change without recording again. */
    private boolean isPushed(VulkanKernel kernel, List<BufferRef> bindings) {
        if (kernel.addresses() != null || !kernel.canPush()) {
            return false;
        }
        boolean changes = !oneShot && bindings.stream().anyMatch(each -> each.buffer() == null);
        if (!changes) {
            kernel.pushing(); // compiled now, not when a queue's lock is held
        }
        return !changes;
    }

    private static void checkConfig(ExecutableExport entry, DispatchConfig config) {
        if (config.dynamicLocalMemory() != 0) {
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED,
                    "dispatch '%s' asks for %s bytes of local memory; shaders declare theirs"
                            .formatted(entry.name(), Integer.toUnsignedString(config.dynamicLocalMemory())));
        }
        if (differs(config.workgroupSizeX(), entry.workgroupSizeX())
                || differs(config.workgroupSizeY(), entry.workgroupSizeY())
                || differs(config.workgroupSizeZ(), entry.workgroupSizeZ())) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "dispatch '%s' asks for workgroups of %sx%sx%s, it was compiled for %dx%dx%d"
                            .formatted(
                                    entry.name(),
                                    Integer.toUnsignedString(config.workgroupSizeX()),
                                    Integer.toUnsignedString(config.workgroupSizeY()),
                                    Integer.toUnsignedString(config.workgroupSizeZ()),
                                    entry.workgroupSizeX(),
                                    entry.workgroupSizeY(),
                                    entry.workgroupSizeZ()));
        }
    }

    private static boolean differs(int wanted, int compiled) {
        return wanted != 0 && wanted != compiled;
    }

    private void checkCounts(ExecutableExport entry, DispatchConfig config) {
        VulkanLimits limits = device.properties().limits();
        checkCount(entry, "x", config.workgroupCountX(), limits.maxComputeWorkGroupCountX());
        checkCount(entry, "y", config.workgroupCountY(), limits.maxComputeWorkGroupCountY());
        checkCount(entry, "z", config.workgroupCountZ(), limits.maxComputeWorkGroupCountZ());
    }

    private void checkCount(ExecutableExport entry, String dimension, int count, long limit) {
        if (Integer.toUnsignedLong(count) > limit) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "workgroup count %s of dispatch '%s' is %s, the limit is %d of device '%s'"
                            .formatted(dimension, entry.name(), Integer.toUnsignedString(count), limit, device.id()));
        }
    }

    /** Notes that a range is used; what is wrong with it is thrown before anything of a command is written. */
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

    /** Ends the last region and returns what was recorded; it is to be used until {@link #release}. */
    VulkanRecording finish() {
        bufferIndex.clear();
        kernelIndex.clear();
        int[] starts = Arrays.copyOf(regions, regionCount + 1);
        starts[regionCount] = commandCount;
        int regionsInUse = commandCount == regions[regionCount - 1] ? regionCount - 1 : regionCount;
        return new VulkanRecording(
                Arrays.copyOf(code, length),
                Arrays.copyOf(commands, commandCount),
                Arrays.copyOf(starts, regionsInUse + 1),
                buffers.toArray(UsedBuffer[]::new),
                kernels.toArray(VulkanKernel[]::new),
                updates.toByteArray(),
                usedSlots.stream().toArray(),
                written());
    }

    private boolean[] written() {
        boolean[] written = new boolean[buffers.size() + usedSlots.cardinality()];
        for (int i = 0; i < buffers.size(); i++) {
            written[i] = writtenBuffers.get(i);
        }
        int place = buffers.size();
        for (int slot = usedSlots.nextSetBit(0); slot >= 0; slot = usedSlots.nextSetBit(slot + 1)) {
            written[place++] = writtenSlots.get(slot);
        }
        return written;
    }

    void release() {
        buffers.forEach(UsedBuffer::release);
        executables.keySet().forEach(VulkanExecutable::release);
    }

    private static long pair(int upper, int lower) {
        return (long) upper << 32 | Integer.toUnsignedLong(lower);
    }

    private int index(VulkanKernel kernel) {
        return kernelIndex.computeIfAbsent(kernel, each -> {
            kernels.add(each);
            return kernels.size() - 1;
        });
    }

    private void begin(int opcode) {
        if (length > WORDS_LIMIT - COMMAND_LIMIT) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer has %d words of commands, the limit; record several".formatted(length));
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
        UsedBuffer own = VulkanBuffer.usable(device, "recorded buffer", buffer);
        Integer known = bufferIndex.get(buffer.allocatedBuffer());
        if (known != null) {
            return known;
        }
        own.retain();
        int index = buffers.size();
        buffers.add(own);
        bufferIndex.put(buffer.allocatedBuffer(), index);
        return index;
    }

    private void emit(long word) {
        if (length == code.length) {
            code = Arrays.copyOf(code, length * 2);
        }
        code[length++] = word;
    }
}

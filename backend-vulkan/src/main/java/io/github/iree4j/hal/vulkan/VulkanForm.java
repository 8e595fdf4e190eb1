package io.github.iree4j.hal.vulkan;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.stream.CommandForm;
import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.ResolvedBindings;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.nativeaccess.vulkan.VulkanLimits;
import io.github.iree4j.nativeaccess.vulkan.VulkanWords;
import io.github.iree4j.spirv.SpirvPipeline;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The native commands of a {@link Recording}.
 *
 * <p>Dispatches with possibly changing buffers use descriptor sets or a table of addresses, rewritten when buffers have
 * moved since the previous execution. Other commands are re-recorded when the buffers move: transfers with slots, and
 * the counts of indirect dispatches.
 */
final class VulkanForm implements CommandForm {
    /** Maximum uniform range of current devices, bytes; code cannot read more. */
    private static final long UNIFORM_RANGE = 65536;

    private static final int ADDRESS_BYTES = Long.BYTES;

    private static final int DESCRIPTOR_WORDS = 3;

    private final VulkanEncoder encoder;
    private final Recording recording;
    private final @Nullable StreamStorage updates;
    private final @Nullable StreamStorage addresses;
    private final NativeCommands commands;
    private final boolean lent;
    private final ResolvedBindings resolved;
    private final int[] constants = new int[256]; // push constants of a dispatch
    private final long[] descriptor = new long[DESCRIPTOR_WORDS]; // descriptor of a binding
    private boolean recorded;

    /**
     * Creates empty commands; may take long.
     *
     * @param resolved the locations of the buffers
     * @param updates the bytes of updates; null for none
     * @param commands the commands to record, owned by this form
     * @param lent whether the commands return to the pool
     */
    VulkanForm(
            VulkanEncoder encoder,
            Recording recording,
            ResolvedBindings resolved,
            @Nullable StreamStorage updates,
            NativeCommands commands,
            boolean lent) {
        this.encoder = encoder;
        this.recording = recording;
        this.updates = updates;
        this.commands = commands;
        this.lent = lent;
        this.resolved = resolved;
        long tableBytes = 0;
        for (int at : recording.commands()) {
            if (recording.isDispatch(at) && VulkanKernel.of(recording, at).addresses() != null) {
                tableBytes += (long) ADDRESS_BYTES * recording.bindingCount(at);
            }
        }
        try {
            this.addresses = tableBytes == 0 ? null : encoder.upload(tableBytes);
        } catch (RuntimeException e) {
            closeCommands();
            throw e;
        }
    }

    private void closeCommands() {
        if (lent) {
            commands.release();
        } else {
            commands.close();
        }
    }

    @Override
    public DriverCommands prepare(String name) {
        if (!recorded || mustRecordAgain()) {
            record(name);
            recorded = true;
            encoder.counters().recorded();
        } else if (resolved.anyChanged()) {
            rebind(name);
            encoder.counters().rebound();
        } else {
            encoder.counters().reused();
        }
        return commands;
    }

    @Override
    public void invalidate() {
        recorded = false;
    }

    /** Returns the encoder of the commands recorded last. */
    CommandEncoder written() {
        return commands.encoder();
    }

    private boolean mustRecordAgain() {
        if (!resolved.anyChanged()) {
            return false;
        }
        for (int at : recording.commands()) {
            switch (recording.opcode(at)) {
                case Recording.FILL, Recording.UPDATE -> {
                    if (resolved.isChanged(recording.range(at))) {
                        return true;
                    }
                }
                case Recording.COPY -> {
                    if (resolved.isChanged(recording.range(at)) || resolved.isChanged(recording.copyTarget(at))) {
                        return true;
                    }
                }
                default -> {
                    boolean counts =
                            recording.opcode(at) == Recording.INDIRECT && resolved.isChanged(recording.counts(at));
                    if (counts || VulkanEncoder.isPushed(recording, at) && bindingsChanged(at)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private boolean bindingsChanged(int at) {
        int binding = recording.bindings(at);
        for (int i = 0; i < recording.bindingCount(at); i++, binding += Recording.RANGE_WORDS) {
            if (resolved.isChanged(binding)) {
                return true;
            }
        }
        return false;
    }

    private void rebind(String operation) {
        int ordinal = 0;
        long tableAt = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment words = null;
            for (int at : recording.commands()) {
                if (!recording.isDispatch(at)) {
                    continue;
                }
                boolean changed = bindingsChanged(at);
                if (VulkanKernel.of(recording, at).addresses() != null) {
                    if (changed) {
                        writeAddresses(at, tableAt);
                    }
                    tableAt += (long) ADDRESS_BYTES * recording.bindingCount(at);
                } else if (changed) {
                    if (words == null) {
                        words = arena.allocate(
                                ValueLayout.JAVA_LONG, (long) DESCRIPTOR_WORDS * CommandBuffer.MAXIMUM_BINDINGS);
                    }
                    commands.bind(operation, ordinal, descriptors(at, words));
                }
                ordinal++;
            }
        }
    }

    private void record(String operation) {
        CommandEncoder words = commands.encoder();
        words.clear();
        words.beginAfterAll();
        Hazards hazards = new Hazards();
        long tableAt = 0;
        for (int region = 0; region < recording.regionCount(); region++) {
            int first = recording.firstCommand(region);
            int end = recording.firstCommand(region + 1);
            int kinds = kinds(first, end);
            int sources = hazards.order(kinds);
            if (sources != 0) {
                words.barrier(
                        Hazards.stages(sources),
                        Hazards.writes(sources),
                        Hazards.stages(kinds),
                        Hazards.accesses(kinds));
            }
            for (int i = first; i < end; i++) {
                int at = recording.commands()[i];
                if (recording.isDispatch(at)) {
                    tableAt = dispatch(words, at, tableAt);
                } else {
                    resolved.transfer(at, updates, words);
                }
            }
            hazards.add(kinds);
        }
        if (hazards.written() != 0) {
            // The host reads after waiting for the end.
            words.barrier(
                    Hazards.stages(hazards.written()),
                    Hazards.writes(hazards.written()),
                    VulkanWords.STAGE_HOST,
                    VulkanWords.ACCESS_HOST_READ);
        }
        commands.record(operation);
    }

    private int kinds(int first, int end) {
        int kinds = 0;
        for (int i = first; i < end; i++) {
            kinds |= switch (recording.opcode(recording.commands()[i])) {
                case Recording.DISPATCH -> Hazards.COMPUTE;
                case Recording.INDIRECT -> Hazards.COMPUTE | Hazards.INDIRECT;
                default -> Hazards.TRANSFER;
            };
        }
        return kinds;
    }

    private long dispatch(CommandEncoder words, int at, long tableAt) {
        VulkanKernel kernel = VulkanKernel.of(recording, at);
        boolean byAddress = kernel.addresses() != null;
        boolean pushed = VulkanEncoder.isPushed(recording, at);
        boolean indirect = recording.opcode(at) == Recording.INDIRECT;
        int count = recording.bindingCount(at);
        long pipeline = (pushed ? kernel.pushing() : kernel.settable()).handle();
        if (byAddress || count == 0) {
            words.dispatch(pipeline, VulkanWords.MODE_NONE, 0, indirect);
        } else {
            words.dispatch(pipeline, pushed ? VulkanWords.MODE_PUSH : VulkanWords.MODE_SETS, count, indirect);
            for (int i = 0; i < count; i++) {
                descriptor(at, i, descriptor);
                for (long word : descriptor) {
                    words.word(word);
                }
            }
        }
        words.constants(0, pushConstants(at, kernel, tableAt));
        if (indirect) {
            int counts = recording.counts(at);
            words.indirectWorkgroups(resolved.storage(counts), resolved.offset(counts));
        } else {
            words.workgroups(
                    recording.workgroupCount(at, 0), recording.workgroupCount(at, 1), recording.workgroupCount(at, 2));
        }
        if (byAddress) {
            writeAddresses(at, tableAt);
            return tableAt + (long) ADDRESS_BYTES * count;
        }
        return tableAt;
    }

    private MemorySegment pushConstants(int at, VulkanKernel kernel, long tableAt) {
        int words = kernel.pushConstantBytes() / Integer.BYTES;
        Arrays.fill(constants, 0, words, 0);
        SpirvPipeline.Addresses byAddress = kernel.addresses();
        int first = 0;
        if (byAddress != null) {
            long table = addresses == null ? 0 : addresses.deviceAddress() + tableAt;
            int root = byAddress.rootOffset() / Integer.BYTES;
            constants[root] = (int) table;
            constants[root + 1] = (int) (table >>> 32);
            first = byAddress.constantOffset() / Integer.BYTES;
        }
        for (int i = 0; i < recording.constantCount(at); i++) {
            constants[first + i] = recording.constant(at, i);
        }
        return MemorySegment.ofArray(constants).asSlice(0, (long) words * Integer.BYTES);
    }

    private MemorySegment descriptors(int at, MemorySegment words) {
        int count = recording.bindingCount(at);
        for (int i = 0; i < count; i++) {
            descriptor(at, i, descriptor);
            for (int k = 0; k < DESCRIPTOR_WORDS; k++) {
                words.setAtIndex(ValueLayout.JAVA_LONG, (long) DESCRIPTOR_WORDS * i + k, descriptor[k]);
            }
        }
        return words.asSlice(0, (long) Long.BYTES * DESCRIPTOR_WORDS * count);
    }

    /** Writes buffer, offset and range of a binding. */
    private void descriptor(int at, int binding, long[] out) {
        int range = recording.bindings(at) + Recording.RANGE_WORDS * binding;
        VulkanKernel kernel = VulkanKernel.of(recording, at);
        VulkanLimits limits = encoder.code().handle().properties().limits();
        long length = resolved.length(range);
        if (length == 0) {
            // An empty binding; Vulkan requires a buffer nevertheless.
            out[0] = encoder.code().nothing();
            out[1] = 0;
            out[2] = Integer.BYTES;
            return;
        }
        long offset = resolved.storage(range).offset() + resolved.offset(range);
        if (offset % limits.minStorageBufferOffsetAlignment() != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "binding %d of dispatch '%s' begins at byte %d of its memory, device '%s' needs a multiple of %d"
                            .formatted(
                                    binding,
                                    kernel.export().name(),
                                    offset,
                                    encoder.code().handle().properties().name(),
                                    limits.minStorageBufferOffsetAlignment()));
        }
        if (kernel.isUniform(binding)) {
            length = Math.min(length, UNIFORM_RANGE);
        }
        if (length > limits.maxStorageBufferRange()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "binding %d of dispatch '%s' has %d bytes, device '%s' takes up to %d; bind a part, or compile the program for addresses (vulkan-spirv-bda-v1)"
                            .formatted(
                                    binding,
                                    kernel.export().name(),
                                    length,
                                    encoder.code().handle().properties().name(),
                                    limits.maxStorageBufferRange()));
        }
        out[0] = resolved.storage(range).handle();
        out[1] = offset;
        out[2] = length;
    }

    private void writeAddresses(int at, long tableAt) {
        VulkanKernel kernel = VulkanKernel.of(recording, at);
        SpirvPipeline.Addresses required = kernel.addresses();
        if (addresses == null || required == null) {
            return; // no bindings
        }
        int range = recording.bindings(at);
        for (int i = 0; i < recording.bindingCount(at); i++, range += Recording.RANGE_WORDS) {
            long address = resolved.address(range);
            long length = resolved.length(range);
            if (address == 0) {
                throw IreeException.of(
                        StatusCode.FAILED_PRECONDITION,
                        "binding %d of dispatch '%s' is memory without a device address"
                                .formatted(i, kernel.export().name()));
            }
            if ((address & required.alignments()[i] - 1) != 0) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "binding %d of dispatch '%s' is at address 0x%x, it must be a multiple of %d"
                                .formatted(i, kernel.export().name(), address, required.alignments()[i]));
            }
            if (length < required.lengths()[i]) {
                throw IreeException.of(
                        StatusCode.OUT_OF_RANGE,
                        "binding %d of dispatch '%s' has %d bytes, it needs at least %d"
                                .formatted(i, kernel.export().name(), length, required.lengths()[i]));
            }
            addresses.mapped().set(ValueLayout.JAVA_LONG_UNALIGNED, tableAt + (long) ADDRESS_BYTES * i, address);
        }
    }

    @Override
    public void close() {
        closeCommands();
        if (addresses != null) {
            addresses.release(Frontier.EMPTY);
        }
    }
}

package io.github.iree4j.hal.copying;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.storage.StoredBuffer;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Commands of a device with possibly apart memory. Recorded apart buffers get extra slots after the program's slots, so
 * that copies can be bound; the bytes used of each slot are tracked. The device's commands are created when recording
 * ends, since the number of slots is known only then.
 */
final class CopyingCommands extends CommandBuffer {
    /** The limit of the recordings of devices, checked by devices only at the end. */
    private static final int COMMANDS_LIMIT = 1 << 22;

    private static final long UPDATE_BYTES_LIMIT = 256L << 20;
    private static final int SLOTS_LIMIT = 65536;

    private final CopyingDevice device;
    private final long affinity;
    private final List<Consumer<CommandBuffer>> commands = new ArrayList<>(); // until finished
    // the objects used by commands
    private final Set<RefCounted> kept = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Map<Buffer, Integer> fixedSlots = new IdentityHashMap<>(); // until finished
    private final List<Buffer> fixed = new ArrayList<>(); // apart, in slots from bindingCapacity() on; retained
    private final Map<Integer, UsedRanges> used = new TreeMap<>(); // by slot
    private long updateBytes;
    private @Nullable CommandBuffer recorded; // set by finish()

    CopyingCommands(CopyingDevice device, int modes, int categories, long affinity, int bindingCapacity) {
        super(modes, categories, bindingCapacity);
        this.device = device;
        this.affinity = affinity;
    }

    /** Returns the commands of the device; only once recording is finished. */
    CommandBuffer recorded() {
        return Objects.requireNonNull(recorded);
    }

    /** Returns the used ranges of each used slot, in order. */
    Map<Integer, UsedRanges> used() {
        return used;
    }

    /** Returns a submission's table extended by the extra slots; the given table without extra slots. */
    @Nullable
    BindingTable complete(@Nullable BindingTable table) {
        if (fixed.isEmpty()) {
            return table;
        }
        BindingTable complete = new BindingTable(bindingCapacity() + fixed.size());
        for (int slot = 0; slot < bindingCapacity(); slot++) {
            if (table == null || slot >= table.size()) {
                complete.add(null, 0, Buffer.WHOLE);
            } else {
                complete.add(table.buffer(slot), table.offset(slot), table.length(slot));
            }
        }
        fixed.forEach(each -> complete.add(each, 0, Buffer.WHOLE));
        return complete;
    }

    @Override
    protected void doFinish() {
        CommandBuffer own =
                device.device().createCommandBuffer(modes(), categories(), affinity, bindingCapacity() + fixed.size());
        try {
            commands.forEach(each -> each.accept(own));
            own.finish();
        } catch (RuntimeException e) {
            own.close();
            throw e;
        }
        recorded = own;
        forget();
    }

    private void forget() {
        commands.clear();
        fixedSlots.clear();
        kept.forEach(RefCounted::release);
        kept.clear();
    }

    private void keep(RefCounted one) {
        if (kept.add(one)) {
            one.retain();
        }
    }

    private void add(Consumer<CommandBuffer> command) {
        if (commands.size() == COMMANDS_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer has %d commands, the limit; record several".formatted(COMMANDS_LIMIT));
        }
        commands.add(command);
    }

    /** Tracks a use, and returns the range for the device's commands. */
    private BufferRef used(BufferRef ref, boolean reads, boolean writes) {
        Buffer buffer = ref.buffer();
        BufferRef place = ref;
        if (buffer != null) {
            if (!device.isApart(buffer)) {
                keep(buffer);
                return ref;
            }
            place = BufferRef.slot(slot(buffer), ref.offset(), ref.length());
        }
        UsedRanges ranges = used.computeIfAbsent(place.slot(), _ -> new UsedRanges());
        if (reads) {
            ranges.reads(ref.offset(), ref.length());
        }
        if (writes) {
            ranges.writes(ref.offset(), ref.length());
        }
        return place;
    }

    private int slot(Buffer buffer) {
        Integer known = fixedSlots.get(buffer);
        if (known != null) {
            return known;
        }
        int slot = bindingCapacity() + fixed.size();
        if (slot >= SLOTS_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "command buffer uses %d buffers that device '%s' needs copies of, and has %d slots; the limit of both is %d"
                            .formatted(fixed.size() + 1, device.id(), bindingCapacity(), SLOTS_LIMIT));
        }
        buffer.retain();
        fixed.add(buffer);
        fixedSlots.put(buffer, slot);
        return slot;
    }

    @Override
    protected void recordBarrier(int sourceStages, int targetStages) {
        add(own -> own.executionBarrier(sourceStages, targetStages, 0));
    }

    @Override
    protected void recordFill(BufferRef target, long pattern, int patternLength) {
        BufferRef place = used(target, false, true);
        add(own -> own.fillBuffer(place, pattern, patternLength, 0));
    }

    @Override
    protected void recordUpdate(MemorySegment source, BufferRef target) {
        if (source.byteSize() > UPDATE_BYTES_LIMIT - updateBytes) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "updates of a command buffer exceed %d bytes; copy from a buffer instead"
                            .formatted(UPDATE_BYTES_LIMIT));
        }
        updateBytes += source.byteSize();
        MemorySegment captured = MemorySegment.ofArray(source.toArray(ValueLayout.JAVA_BYTE));
        BufferRef place = used(target, false, true);
        add(own -> own.updateBuffer(captured, place, 0));
    }

    @Override
    protected void recordCopy(BufferRef source, BufferRef target) {
        // With the length of the slot, the end of the target is unknown: the bytes behind the copy are copied back
        // unchanged.
        boolean open = source.length() == Buffer.WHOLE;
        BufferRef from = used(source, true, false);
        BufferRef place = used(target, open, true);
        BufferRef to = open ? new BufferRef(place.buffer(), place.slot(), place.offset(), Buffer.WHOLE) : place;
        add(own -> own.copyBuffer(from, to, 0));
    }

    /** Executables do not declare the bindings written by their code: all are assumed written. */
    @Override
    protected void recordDispatch(
            Executable executable,
            int export,
            DispatchConfig config,
            @Nullable BufferRef workgroupCount,
            int[] constants,
            List<BufferRef> bindings,
            long flags) {
        keep(executable);
        int[] kept = constants.clone();
        List<BufferRef> places =
                bindings.stream().map(each -> used(each, true, true)).toList();
        if (workgroupCount == null) {
            add(own -> own.dispatch(executable, export, config, kept, places, flags));
        } else {
            BufferRef counts = used(workgroupCount, true, false);
            add(own -> own.dispatchIndirect(executable, export, counts, kept, places, flags));
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
        keep(channel);
        BufferRef sent = source == null ? null : used(source, true, false);
        BufferRef received = target == null ? null : used(target, true, true);
        add(own -> own.collective(channel, operation, parameter, sent, received, elementCount));
    }

    @Override
    protected boolean isCopiedOnWrite(Buffer buffer) {
        return !device.isApart(buffer) && StoredBuffer.isCopiedOnWrite(buffer);
    }

    @Override
    protected void destroy() {
        forget();
        fixed.forEach(Buffer::release);
        if (recorded != null) {
            recorded.release();
        }
    }
}

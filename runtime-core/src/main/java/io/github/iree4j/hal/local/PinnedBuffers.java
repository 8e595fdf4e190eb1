package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.storage.BufferStorage;
import io.github.iree4j.hal.storage.ConstantViews;
import io.github.iree4j.hal.storage.StoredBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Storage of the ranges of a recording in one execution, pinned until the execution is complete. Reusable. Written by
 * a single thread; read by all executing threads, once published to these threads.
 */
final class PinnedBuffers {
    private HostMemory.@Nullable Block[] slotBlocks = new HostMemory.@Nullable Block[8];
    private @Nullable StoredBuffer<?>[] slotBuffers = new StoredBuffer<?>[8];
    private long[] slotOffsets = new long[8];
    private long[] slotLengths = new long[8];
    private HostMemory.@Nullable Block[] fixedBlocks = new HostMemory.@Nullable Block[8];
    private final List<ConstantView> views = new ArrayList<>(0);
    private final List<ConstantViews<ConstantView>> viewed = new ArrayList<>(0);
    private Object user = this; // user of the views
    private @Nullable MemoryHolder call;
    private @Nullable Recording recording; // recording with pinned buffers

    /**
     * Pins all buffers used by a recording.
     *
     * @param table the contents of the recording's slots; checked against the recording
     * @param holder the executing call; null for none
     * @throws IreeException when a buffer has no storage; then nothing is pinned
     */
    void pin(Recording commands, @Nullable BindingTable table, @Nullable MemoryHolder holder) {
        reserve(commands.slotLimit(), commands.fixed().length);
        recording = commands;
        user = holder == null ? this : holder;
        call = holder;
        try {
            for (int slot : commands.slots()) {
                pinSlot(slot, table, holder);
            }
            for (int i = 0; i < commands.fixed().length; i++) {
                fixedBlocks[i] = pin(commands.fixed()[i], holder);
            }
        } catch (Throwable e) {
            unpin();
            throw e;
        }
    }

    /** Returns whether the executing call was abandoned. */
    boolean isUnwanted() {
        MemoryHolder holder = call;
        return holder != null && holder.isAbandoned();
    }

    private HostMemory.Block pin(StoredBuffer<?> used, @Nullable MemoryHolder holder) {
        if (!(used instanceof LocalBuffer buffer)) {
            return lent(used, holder);
        }
        HostMemory.Block block = buffer.pin();
        ConstantViews<ConstantView> constant = buffer.views();
        if (constant == null) {
            return block;
        }
        try {
            ConstantView view = constant.begin(user);
            viewed.add(constant);
            views.add(view);
            return view.block();
        } catch (RuntimeException | Error e) {
            buffer.unpin();
            throw e;
        }
    }

    /** Returns the host-visible storage of another device. */
    static HostMemory.Block lent(StoredBuffer<?> buffer, @Nullable MemoryHolder holder) {
        BufferStorage storage = buffer.lend(holder);
        return storage instanceof HostMemory.Block own
                ? own
                : HostMemory.Block.imported(Objects.requireNonNull(storage.host()));
    }

    private void reserve(int slots, int fixed) {
        if (slotBlocks.length < slots) {
            int capacity = Math.max(slots, slotBlocks.length * 2);
            slotBlocks = new HostMemory.@Nullable Block[capacity];
            slotBuffers = new StoredBuffer<?>[capacity];
            slotOffsets = new long[capacity];
            slotLengths = new long[capacity];
        }
        if (fixedBlocks.length < fixed) {
            fixedBlocks = new HostMemory.@Nullable Block[Math.max(fixed, fixedBlocks.length * 2)];
        }
    }

    private void pinSlot(int slot, @Nullable BindingTable table, @Nullable MemoryHolder holder) {
        Buffer buffer = table == null ? null : table.buffer(slot);
        if (table == null || buffer == null) {
            throw IreeException.of(StatusCode.INTERNAL, "slot " + slot + " was not checked at submission");
        }
        if (!buffer.isLive()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, "buffer in slot " + slot + " of the binding table is closed");
        }
        long start = table.offset(slot);
        long bytes = table.length(slot);
        StoredBuffer<?> local = LocalBuffer.usable(buffer);
        slotOffsets[slot] = buffer.offset() + start;
        slotLengths[slot] = bytes == Buffer.WHOLE ? buffer.length() - start : bytes;
        slotBlocks[slot] = pin(local, holder);
        slotBuffers[slot] = local;
    }

    /** Ends {@link #pin}. Keeps no memory reachable. */
    void unpin() {
        Recording commands = recording;
        if (commands == null) {
            return;
        }
        recording = null;
        for (int i = 0; i < views.size(); i++) {
            viewed.get(i).end(views.get(i), user);
        }
        if (!views.isEmpty()) {
            views.clear();
            viewed.clear();
        }
        user = this;
        for (int slot : commands.slots()) {
            StoredBuffer<?> buffer = slotBuffers[slot];
            if (buffer != null) {
                slotBuffers[slot] = null;
                slotBlocks[slot] = null;
                buffer.unpin();
            }
        }
        for (int i = 0; i < commands.fixed().length && fixedBlocks[i] != null; i++) {
            fixedBlocks[i] = null;
            commands.fixed()[i].unpin();
        }
    }

    /** Returns the storage that contains a range. */
    HostMemory.Block block(long[] code, int range) {
        int where = (int) code[range];
        HostMemory.Block block = where < 0 ? fixedBlocks[~where] : slotBlocks[where];
        if (block == null) {
            throw IreeException.of(StatusCode.INTERNAL, "command uses a buffer that its submission did not pin");
        }
        return block;
    }

    /** Returns the offset of a range in its storage. */
    long offset(long[] code, int range) {
        int where = (int) code[range];
        return where < 0 ? code[range + 1] : slotOffsets[where] + code[range + 1];
    }

    /** Returns the bytes of a range. Known lengths have been checked against their slots. */
    long length(long[] code, int range) {
        long recorded = code[range + 2];
        return recorded == Buffer.WHOLE ? slotLengths[(int) code[range]] - code[range + 1] : recorded;
    }
}

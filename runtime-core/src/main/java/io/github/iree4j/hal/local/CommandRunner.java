package io.github.iree4j.hal.local;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** Runs recorded commands in their order, on the calling thread. Allocates nothing per command. */
final class CommandRunner {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final LocalCommandBuffer commands;
    private final Worker worker;
    private final long[] code;
    private int at; // next word of code

    // The range read last.
    private HostMemory.Block block;
    private long offset;
    private long length;

    private CommandRunner(LocalCommandBuffer commands, Worker worker, int from) {
        this.at = from;
        this.commands = commands;
        this.worker = worker;
        this.code = commands.code();
        this.block = HostMemory.Block.NONE;
    }

    /**
     * Executes a command buffer whose submission has been checked, or a part of it.
     *
     * @param from its first word of code
     * @param to the word after its last
     * @throws IreeException when a buffer has no storage, a range known only now does not fit, or a kernel fails
     */
    static void run(LocalCommandBuffer commands, @Nullable BindingTable table, Workers workers, int from, int to) {
        Worker worker = workers.acquire();
        int[] slots = commands.slots();
        int slotCount = slots.length == 0 ? 0 : slots[slots.length - 1] + 1;
        LocalBuffer[] fixed = commands.fixed();
        int pinnedSlots = 0;
        int pinnedFixed = 0;
        try {
            worker.reserve(slotCount, fixed.length);
            for (; pinnedSlots < slots.length; pinnedSlots++) {
                pinSlot(worker, table, slots[pinnedSlots]);
            }
            for (; pinnedFixed < fixed.length; pinnedFixed++) {
                worker.fixedBlocks[pinnedFixed] = fixed[pinnedFixed].pin();
            }
            new CommandRunner(commands, worker, from).runAll(to);
        } finally {
            for (int i = 0; i < pinnedFixed; i++) {
                fixed[i].unpin();
            }
            for (int i = 0; i < pinnedSlots; i++) {
                if (table != null && table.buffer(slots[i]) instanceof Buffer buffer) {
                    LocalCommandBuffer.local(buffer).unpin();
                }
            }
            worker.forget(slotCount, fixed.length);
            workers.release(worker);
        }
    }

    private static void pinSlot(Worker worker, @Nullable BindingTable table, int slot) {
        Buffer buffer = table == null ? null : table.buffer(slot);
        if (table == null || buffer == null) {
            throw new IreeException(StatusCode.INTERNAL, "slot " + slot + " was not checked at submission");
        }
        if (!buffer.isLive()) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION, "buffer in slot " + slot + " of the binding table is closed");
        }
        long start = table.offset(slot);
        long bytes = table.length(slot);
        worker.slotOffsets[slot] = buffer.offset() + start;
        worker.slotLengths[slot] = bytes == Buffer.WHOLE ? buffer.length() - start : bytes;
        worker.slotBlocks[slot] = LocalCommandBuffer.local(buffer).pin();
    }

    private void runAll(int end) {
        while (at < end) {
            switch ((int) code[at++]) {
                case LocalCommandBuffer.BARRIER -> {
                    // Commands run in order already.
                }
                case LocalCommandBuffer.FILL -> {
                    range();
                    fill(block.segment, offset, length, code[at++]);
                }
                case LocalCommandBuffer.UPDATE -> {
                    range();
                    MemorySegment.copy(commands.update((int) code[at++]), 0, block.segment, offset, length);
                }
                case LocalCommandBuffer.COPY -> copy();
                case LocalCommandBuffer.DISPATCH_DIRECT -> dispatch(false);
                case LocalCommandBuffer.DISPATCH_INDIRECT -> dispatch(true);
                default -> throw new IreeException(StatusCode.INTERNAL, "command buffer holds opcode " + code[at - 1]);
            }
        }
    }

    /** Reads a range and resolves it against the binding table. Ends within slots have been checked for lengths that were known. */
    private void range() {
        int where = (int) code[at];
        long start = code[at + 1];
        long bytes = code[at + 2];
        at += 3;
        if (where < 0) {
            block = pinned(worker.fixedBlocks[~where]);
            offset = start;
            length = bytes;
            return;
        }
        block = pinned(worker.slotBlocks[where]);
        offset = worker.slotOffsets[where] + start;
        length = bytes == Buffer.WHOLE ? worker.slotLengths[where] - start : bytes;
    }

    private static HostMemory.Block pinned(HostMemory.@Nullable Block block) {
        if (block == null) {
            throw new IreeException(StatusCode.INTERNAL, "command uses a buffer that its submission did not pin");
        }
        return block;
    }

    private void copy() {
        range();
        HostMemory.Block source = block;
        long from = offset;
        long bytes = length;
        range();
        if (length < bytes) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "copy of " + bytes + " bytes does not fit its target of " + length + " bytes");
        }
        if (source.address + from < block.address + offset + bytes
                && block.address + offset < source.address + from + bytes) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "copy source and target of " + bytes + " bytes overlap; copy through another buffer");
        }
        MemorySegment.copy(source.segment, from, block.segment, offset, bytes);
    }

    private void dispatch(boolean indirect) {
        LocalExecutable program = commands.program((int) (code[at] >>> 32));
        int export = (int) code[at];
        ExecutableExport entry = program.export(export);
        int x = (int) (code[at + 1] >>> 32);
        int y = (int) code[at + 1];
        int z = (int) (code[at + 2] >>> 32);
        long dynamicLocal = code[at + 2] & 0xFFFF_FFFFL;
        int sizeX = (int) (code[at + 3] >>> 32);
        int sizeY = (int) code[at + 3];
        int sizeZ = (int) (code[at + 4] >>> 32);
        int constants = (int) code[at + 4] >>> 16;
        int bindings = (int) code[at + 4] & 0xFFFF;
        at += 5;
        if (indirect) {
            range();
            x = block.segment.get(INT, offset);
            y = block.segment.get(INT, offset + 4);
            z = block.segment.get(INT, offset + 8);
            LocalCommandBuffer.checkCounts(entry, x, y, z);
        }
        worker.begin(code, constants, at, entry.localMemorySize() + dynamicLocal);
        worker.sizes(sizeX, sizeY, sizeZ);
        worker.counts(x, y, z);
        at += (constants + 1) >> 1;
        long misaligned = program.bindingAlignment() - 1;
        for (int i = 0; i < bindings; i++) {
            range();
            if ((block.address + offset & misaligned) != 0) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "binding %d of dispatch '%s' starts at byte %d of its allocation, which is not aligned to %d bytes; copy it into a buffer of its own"
                                .formatted(i, entry.name(), offset, misaligned + 1));
            }
            worker.bind(block, offset, length);
        }
        long groups = Integer.toUnsignedLong(x) * Integer.toUnsignedLong(y) * z;
        if (groups != 0) {
            program.loaded().dispatch(export, worker, 0, groups, worker.index);
        }
    }

    /** Fills bytes with an 8-byte pattern, which starts at the first of them. */
    static void fill(MemorySegment target, long offset, long length, long pattern) {
        long whole = Math.min(length & -8, 64);
        for (long i = 0; i < whole; i += 8) {
            target.set(LONG, offset + i, pattern);
        }
        // Double what is there: large fills run at the speed of copies.
        for (long done = whole; done > 0 && done < (length & -8); ) {
            long bytes = Math.min(done, (length & -8) - done);
            MemorySegment.copy(target, offset, target, offset + done, bytes);
            done += bytes;
        }
        for (long i = length & -8; i < length; i++) {
            target.set(ValueLayout.JAVA_BYTE, offset + i, (byte) (pattern >>> ((i & 7) << 3)));
        }
    }
}

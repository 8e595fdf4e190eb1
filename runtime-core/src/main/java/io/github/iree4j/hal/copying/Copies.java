package io.github.iree4j.hal.copying;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The copies of apart memory for an execution: a single copy of each allocation, regardless of the number of slots with
 * parts of the allocation, since commands may write through one slot and read through another. A copy spans the bytes
 * from the first slot to the end of the last; only bytes in use are transferred. Confined to a single thread.
 */
final class Copies {
    private final CopyingDevice view;
    private final CopyingCommands commands;
    private final BindingTable table;
    private final Map<Buffer, Copy> copies = new IdentityHashMap<>(); // by allocation
    private final Map<Integer, Slot> slots = new TreeMap<>(); // slots with apart memory

    /** A copy of an allocation, from {@code first} to {@code end}. */
    private static final class Copy {
        final Buffer original;
        long first = Long.MAX_VALUE;
        long end;

        long place; // offset of the first byte in the memory of all copies

        Copy(Buffer original) {
            this.original = original;
        }

        /** Returns the position of a byte of the original. */
        long at(long offset) {
            return place + offset - first;
        }
    }

    /** A slot: the offset in the allocation, and the length in use. */
    private record Slot(Copy copy, long start, long length, UsedRanges used) {}

    /**
     * Determines the apart buffers.
     *
     * @param table checked against the commands
     */
    Copies(CopyingDevice view, CopyingCommands commands, BindingTable table) {
        this.view = view;
        this.commands = commands;
        this.table = table;
        commands.used().forEach(this::look);
    }

    private void look(int slot, UsedRanges used) {
        Buffer buffer = Objects.requireNonNull(table.buffer(slot), "a slot in use was checked");
        if (!view.isApart(buffer)) {
            return;
        }
        if (!used.isOnlyWritten() && (buffer.access() & MemoryAccess.READ) == 0) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "slot %d holds a buffer of device '%s' with access %s, of which device '%s' needs a copy; allow READ"
                            .formatted(
                                    slot,
                                    CopyingDevice.owner(buffer).id(),
                                    MemoryAccess.format(buffer.access()),
                                    view.id()));
        }
        long within = table.offset(slot);
        long bytes = table.length(slot) == Buffer.WHOLE ? buffer.length() - within : table.length(slot);
        long start = buffer.offset() + within;
        long length = used.end(bytes);
        Copy copy = copies.computeIfAbsent(buffer.allocatedBuffer(), Copy::new);
        copy.first = Math.min(copy.first, start & -CrossDeviceOperation.ALIGNMENT);
        copy.end = Math.max(copy.end, start + length);
        slots.put(slot, new Slot(copy, start, length, used));
    }

    boolean isEmpty() {
        return slots.isEmpty();
    }

    /**
     * Submits the execution, between copies to the device and copies back.
     *
     * @param flags execute flags
     */
    void execute(CrossDeviceOperation operation, CopyingQueue queue, long flags) {
        long bytes = 0;
        for (Copy each : copies.values()) {
            each.place = bytes;
            bytes = Math.addExact(
                    bytes,
                    each.end - each.first + CrossDeviceOperation.ALIGNMENT - 1 & -CrossDeviceOperation.ALIGNMENT);
        }
        // One allocation, so that executions cannot deadlock over several allocations.
        Buffer memory = operation.copy(bytes);
        slots.values()
                .forEach(each -> each.used.read(each.length).forEach(range -> {
                    long at = each.start + range.offset();
                    operation.transfer(each.copy.original, at, memory, each.copy.at(at), range.length());
                }));
        BindingTable bound = bound(memory);
        operation.next((wait, signal) -> queue.plain().execute(wait, signal, commands.recorded(), bound, flags));
        slots.values().forEach(each -> {
            if ((each.copy.original.access() & MemoryAccess.WRITE) != 0) {
                each.used.written(each.length).forEach(range -> {
                    long at = each.start + range.offset();
                    operation.transfer(memory, each.copy.at(at), each.copy.original, at, range.length());
                });
            }
        });
    }

    private BindingTable bound(Buffer memory) {
        BindingTable bound = new BindingTable(table.size());
        for (int i = 0; i < table.size(); i++) {
            Slot slot = slots.get(i);
            if (slot != null) {
                bound.add(memory, slot.copy.at(slot.start), slot.length);
            } else {
                bound.add(commands.used().containsKey(i) ? table.buffer(i) : null, table.offset(i), table.length(i));
            }
        }
        return bound;
    }
}

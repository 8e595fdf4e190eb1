package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.storage.ConstantViews;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The locations of a recording's buffers in an execution: the fixed buffers, then the buffers bound to slots. Ranges
 * are named by the index of the first word in {@link Recording#code}. Confined to the thread preparing a
 * {@link CommandForm}.
 */
public final class ResolvedBindings {
    private final StreamDevice device;
    private final Recording recording;
    private final UsedBuffer[] fixed;
    private final boolean[] written; // by place: whether commands may write the buffer
    private final int[] placeOfSlot;
    private final StreamStorage[] storages;
    private final long[] offsets; // in the storage
    private final long[] lengths;
    private final boolean[] changed;
    private final @Nullable UsedBuffer[] pinned;
    private int pinnedCount;
    private Object user = this; // user of constant copies: the call, or this execution
    private final List<ConstantViews<ConstantCopy>> constants = new ArrayList<>(0); // constants with a copy in use
    private final List<ConstantCopy> claimed = new ArrayList<>(0);
    private boolean anyChanged;

    /**
     * Creates the bindings of a recording. The recording must outlive the bindings.
     *
     * @param written the recording's result of {@link #written}
     */
    ResolvedBindings(StreamDevice device, Recording recording, boolean[] written) {
        this.device = device;
        this.recording = recording;
        this.written = written;
        this.fixed = new UsedBuffer[recording.fixed().length];
        for (int i = 0; i < fixed.length; i++) {
            fixed[i] = StreamBuffer.used(device, recording.fixed()[i]);
        }
        int count = fixed.length + recording.slots().length;
        this.placeOfSlot = placesOfSlots(recording);
        this.storages = new StreamStorage[count];
        Arrays.fill(storages, StreamStorage.NONE);
        this.offsets = new long[count];
        this.lengths = new long[count];
        this.changed = new boolean[count];
        this.pinned = new @Nullable UsedBuffer[count];
    }

    private static int[] placesOfSlots(Recording recording) {
        int[] places = new int[recording.slotLimit()];
        for (int i = 0; i < recording.slots().length; i++) {
            places[recording.slots()[i]] = recording.fixed().length + i;
        }
        return places;
    }

    /** Returns, by place, whether commands of a recording may write: fixed buffers, then slots in order. */
    static boolean[] written(Recording recording) {
        boolean[] written = new boolean[recording.fixed().length + recording.slots().length];
        int[] placeOfSlot = placesOfSlots(recording);
        for (int at : recording.commands()) {
            if (!recording.isDispatch(at)) {
                int target = recording.opcode(at) == Recording.COPY ? recording.copyTarget(at) : recording.range(at);
                written[place(recording, placeOfSlot, target)] = true;
            } else {
                int range = recording.bindings(at);
                for (int i = 0; i < recording.bindingCount(at); i++, range += Recording.RANGE_WORDS) {
                    if (recording.executable(at).mayWrite(recording.export(at), i)) {
                        written[place(recording, placeOfSlot, range)] = true;
                    }
                }
            }
        }
        return written;
    }

    private static int place(Recording recording, int[] placeOfSlot, int range) {
        long word = recording.code()[range];
        return word < 0 ? (int) ~word : placeOfSlot[(int) word];
    }

    /**
     * Claims copies for the call, from now on, of constants writable by the commands.
     *
     * @param call the call of the execution; null for none
     * @throws io.github.iree4j.status.IreeException RESOURCE_EXHAUSTED without memory for a copy; {@link #unpin}
     *     follows
     */
    void claim(@Nullable MemoryHolder call, @Nullable BindingTable table) {
        user = call == null ? this : call;
        for (int place = 0; place < storages.length; place++) {
            if (!written[place]) {
                continue;
            }
            UsedBuffer buffer =
                    place < fixed.length ? fixed[place] : own(buffer(recording.slots()[place - fixed.length], table));
            buffer.checkWritable();
            ConstantViews<ConstantCopy> copies = buffer.copies();
            if (copies != null) {
                claimed.add(copies.begin(user));
                constants.add(copies);
            }
        }
    }

    private static Buffer buffer(int slot, @Nullable BindingTable table) {
        if (table == null || !(table.buffer(slot) instanceof Buffer buffer)) {
            throw new IllegalStateException("slot " + slot + " was checked and is empty");
        }
        return buffer;
    }

    private UsedBuffer own(Buffer buffer) {
        return StreamBuffer.usable(device, "bound buffer", buffer);
    }

    /**
     * Resolves the current location of every buffer, and records the buffers moved since the last time. All are pinned
     * until {@link #unpin}, even after a failure.
     *
     * @throws io.github.iree4j.status.IreeException FAILED_PRECONDITION when a buffer has no storage for the operation
     */
    void resolve(StreamOperation operation, @Nullable BindingTable table) {
        Arrays.fill(changed, false);
        anyChanged = false;
        for (int i = 0; i < fixed.length; i++) {
            set(i, fixed[i], operation, 0, fixed[i].length());
        }
        for (int i = 0; i < recording.slots().length; i++) {
            int slot = recording.slots()[i];
            Buffer buffer = buffer(slot, table);
            long offset = Objects.requireNonNull(table).offset(slot);
            long length = table.length(slot) == Buffer.WHOLE ? buffer.length() - offset : table.length(slot);
            set(fixed.length + i, own(buffer), operation, buffer.offset() + offset, length);
        }
    }

    private void set(int place, UsedBuffer buffer, StreamOperation operation, long offset, long length) {
        StreamStorage own = buffer.pin(operation);
        pinned[pinnedCount++] = buffer;
        StreamStorage storage = buffer.seenBy(own, user);
        StreamStorage before = storages[place];
        boolean same = before.isWith(storage)
                && before.offset() + offsets[place] == storage.offset() + offset
                && lengths[place] == length;
        storages[place] = storage;
        offsets[place] = offset;
        lengths[place] = length;
        changed[place] = !same;
        anyChanged |= !same;
    }

    /**
     * Checks a transfer against the locations of the ranges, and passes the transfer on.
     *
     * @param at index of the fill, update or copy command
     * @param updates the bytes of updates, as passed to {@link StreamEncoder#form}
     * @param sink receives at most one call
     * @throws IreeException INVALID_ARGUMENT for a fill not a multiple of the pattern, and for overlapping ranges of a
     *     copy; OUT_OF_RANGE for a copy to a target too small
     */
    public void transfer(int at, @Nullable StreamStorage updates, TransferSink sink) {
        int range = recording.range(at);
        long length = length(range);
        switch (recording.opcode(at)) {
            case Recording.FILL -> {
                int patternLength = recording.patternLength(at);
                if (length % patternLength != 0) {
                    throw IreeException.of(
                            StatusCode.INVALID_ARGUMENT,
                            "fill of %d bytes is not aligned to its pattern of %d bytes"
                                    .formatted(length, patternLength));
                }
                sink.fill(storage(range), offset(range), length, recording.pattern(at), patternLength);
            }
            case Recording.UPDATE -> {
                if (length > 0) { // otherwise there may be no memory for updates
                    sink.copy(
                            Objects.requireNonNull(updates),
                            recording.updateOffset(at),
                            storage(range),
                            offset(range),
                            length);
                }
            }
            case Recording.COPY -> copy(range, recording.copyTarget(at), sink);
            default -> throw new IllegalArgumentException("the command at " + at + " is not a transfer");
        }
    }

    private void copy(int source, int target, TransferSink sink) {
        long length = length(source);
        if (length > room(target)) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "copy of %d bytes does not fit the %d bytes of its target".formatted(length, room(target)));
        }
        StreamStorage from = storage(source);
        StreamStorage to = storage(target);
        long distance = from.offset() + offset(source) - to.offset() - offset(target);
        if (from.isWith(to) && Math.abs(distance) < length) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "copy source and target of %d bytes overlap by %d; copy through another buffer"
                            .formatted(length, length - Math.abs(distance)));
        }
        sink.copy(from, offset(source), to, offset(target), length);
    }

    /** Reverses {@link #claim} and {@link #resolve}. The hardware is done with the buffers. */
    void unpin() {
        for (int i = 0; i < claimed.size(); i++) {
            constants.get(i).end(claimed.get(i), user);
        }
        claimed.clear();
        constants.clear();
        user = this;
        while (pinnedCount > 0) {
            UsedBuffer buffer = pinned[--pinnedCount];
            pinned[pinnedCount] = null;
            if (buffer != null) {
                buffer.unpin(storages[pinnedCount]); // places are pinned in their order
            }
        }
    }

    /** Discards the state, because the commands were not used. */
    void forget() {
        Arrays.fill(storages, StreamStorage.NONE);
        Arrays.fill(lengths, -1);
    }

    /**
     * Returns whether any buffer has moved since the previous execution.
     *
     * @return true at the first execution
     */
    public boolean anyChanged() {
        return anyChanged;
    }

    private int place(int at) {
        return place(recording, placeOfSlot, at);
    }

    /**
     * Returns whether a range has moved since the previous execution.
     *
     * @param at index of the range
     * @return true at the first execution
     */
    public boolean isChanged(int at) {
        return changed[place(at)];
    }

    /**
     * Returns the storage containing a range.
     *
     * @param at index of the range
     * @return the storage, valid until the execution is complete
     */
    public StreamStorage storage(int at) {
        return storages[place(at)];
    }

    /**
     * Returns the offset of a range in its storage.
     *
     * @param at index of the range
     * @return offset, bytes
     */
    public long offset(int at) {
        return offsets[place(at)] + recording.code()[at + 1];
    }

    /**
     * Returns the address of a range for device code.
     *
     * @param at index of the range
     * @return the address; 0 for memory without addresses
     */
    public long address(int at) {
        long address = storage(at).deviceAddress();
        return address == 0 ? 0 : address + offset(at);
    }

    /**
     * Returns the length of a range.
     *
     * @param at index of the range
     * @return bytes
     */
    public long length(int at) {
        long length = recording.code()[at + 2];
        return length == Buffer.WHOLE ? room(at) : length;
    }

    /**
     * Returns the number of bytes from the start of a range to the end of the buffer.
     *
     * @param at index of the range
     * @return bytes; negative when the range begins behind the end
     */
    public long room(int at) {
        return lengths[place(at)] - recording.code()[at + 1];
    }
}

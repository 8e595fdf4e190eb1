package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.stream.CommandForm;
import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.hal.stream.ResolvedBindings;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferSink;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A recording at the peer: sent once, or with its only execution. Every range of the recording is a slot at the peer,
 * so an execution sends only the places of the ranges. Ranges in memory of this process are moved to the mirror before
 * an execution, and moved back afterwards where commands may write.
 */
final class RemoteForm implements CommandForm {
    private static final int SLOTS_LIMIT = 0xFFFF;

    private static final TransferSink CHECK = new TransferSink() {
        @Override
        public void fill(StreamStorage target, long offset, long length, long pattern, int patternLength) {}

        @Override
        public void copy(
                StreamStorage source, long sourceOffset, StreamStorage target, long targetOffset, long length) {}
    };

    private final RemoteDriver driver;
    private final Recording recording;
    private final ResolvedBindings bindings;
    private final @Nullable StreamStorage updates;
    private final boolean oneShot;
    private final List<Range> slots = new ArrayList<>();
    private final Map<List<Long>, Integer> slotOf = new LinkedHashMap<>(); // by the words of a range
    private byte @Nullable [] encoded; // the recording as bytes, once prepared
    private long handle; // handle at the peer; 0 before the first execution, and for a single execution
    private @Nullable RemoteCommands commands;
    private volatile boolean
            again; // whether the peer may have had no room for the recording, and then has not kept the recording

    /** A slot: a range, and for the target of a copy the range whose length applies. */
    private record Range(int at, int lengthOf, boolean written) {}

    RemoteForm(
            RemoteDriver driver,
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates,
            boolean oneShot) {
        this.driver = driver;
        this.recording = recording;
        this.bindings = bindings;
        this.updates = updates;
        this.oneShot = oneShot;
    }

    @Override
    public DriverCommands prepare(String operation) {
        if (encoded == null) {
            encoded = encode();
        }
        if (again) {
            again = false;
            commands = null;
            close();
        }
        RemoteCommands known = commands;
        if (known != null && !bindings.anyChanged()) {
            return known;
        }
        for (int at : recording.commands()) {
            if (!recording.isDispatch(at)) {
                bindings.transfer(at, updates, CHECK);
            }
        }
        if (!oneShot && handle == 0) {
            handle = driver.session().node().handle();
            driver.session()
                    .post(new FrameWriter(FrameType.RECORD)
                            .u64(handle)
                            .u16(driver.device())
                            .bytes(encoded));
        }
        RemoteCommands made = bind(handle == 0 ? encoded : new byte[0]);
        commands = made;
        return made;
    }

    /** Requests a new recording at the next execution, after an execution has failed for lack of memory, possibly of the recording. */
    void recordAgain() {
        again = true;
    }

    private RemoteCommands bind(byte[] inline) {
        RemoteCommands made = new RemoteCommands(driver, this);
        List<Step> after = new ArrayList<>(0);
        Map<List<Long>, Boolean> moved = new LinkedHashMap<>(0);
        long[] table = new long[3 * slots.size()];
        for (int i = 0; i < slots.size(); i++) {
            Range slot = slots.get(i);
            StreamStorage storage = bindings.storage(slot.at);
            RemoteMemory memory = driver.memory(storage);
            long offset = storage.offset() + bindings.offset(slot.at);
            long length = bindings.length(slot.lengthOf);
            long far = memory.farHandle();
            table[3 * i] = far;
            table[3 * i + 1] = offset;
            table[3 * i + 2] = length;
            if (memory.isNear() && length > 0) {
                List<Long> place = List.of(far, offset, length);
                Boolean back = moved.get(place);
                if (back == null) {
                    made.add(new Step.Upload(memory.near(offset, length), far, offset, false));
                }
                if (slot.written && (back == null || !back)) {
                    after.add(new Step.Download(far, offset, memory.near(offset, length)));
                }
                moved.put(place, slot.written || back != null && back);
            }
        }
        made.add(new Step.Execute(handle, inline, table));
        after.forEach(made::add);
        return made;
    }

    private byte[] encode() {
        FrameWriter out = new FrameWriter(FrameType.RECORD);
        int region = 0;
        int count = 0;
        int[] all = recording.commands();
        for (int i = 0; i < all.length; i++) {
            while (region + 1 < recording.regionCount() && recording.firstCommand(region + 1) <= i) {
                region++;
                out.u8(RecordedCommands.BARRIER);
                count++;
            }
            encode(all[i], out);
            count++;
            if (out.size() > SessionWire.FRAME_LIMIT - (1 << 16)) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "command buffer of more than %d bytes for a remote device; record several"
                                .formatted(out.size()));
            }
        }
        byte[] body = new byte[out.size() - FrameWriter.HEAD];
        out.finish().get(FrameWriter.HEAD, body);
        FrameWriter whole =
                new FrameWriter(FrameType.RECORD).u16(slots.size()).u32(count).bytes(body);
        byte[] result = new byte[whole.size() - FrameWriter.HEAD];
        whole.finish().get(FrameWriter.HEAD, result);
        return result;
    }

    private void encode(int at, FrameWriter out) {
        int range = recording.range(at);
        switch (recording.opcode(at)) {
            case Recording.FILL ->
                out.u8(RecordedCommands.FILL)
                        .u16(slot(range, range, true))
                        .u64(recording.pattern(at))
                        .u8(recording.patternLength(at));
            case Recording.UPDATE -> {
                long length = recording.code()[range + 2];
                if (length == Buffer.WHOLE || length > SessionWire.FRAME_LIMIT) {
                    throw IreeException.of(
                            StatusCode.RESOURCE_EXHAUSTED,
                            "update of %d bytes in commands for a remote device, the limit is %d; copy from a buffer"
                                    .formatted(length, SessionWire.FRAME_LIMIT));
                }
                MemorySegment bytes = recording.updates().asSlice(recording.updateOffset(at), length);
                out.u8(RecordedCommands.UPDATE)
                        .u16(slot(range, range, true))
                        .u32((int) length)
                        .bytes(bytes.toArray(ValueLayout.JAVA_BYTE));
            }
            case Recording.COPY ->
                out.u8(RecordedCommands.COPY)
                        .u16(slot(range, range, false))
                        .u16(slot(recording.copyTarget(at), range, true));
            default -> dispatch(at, out);
        }
    }

    private void dispatch(int at, FrameWriter out) {
        boolean indirect = recording.opcode(at) == Recording.INDIRECT;
        long[] code = recording.code();
        out.u8(indirect ? RecordedCommands.INDIRECT : RecordedCommands.DISPATCH);
        out.u64(((RemoteExecutable) recording.executable(at)).handle()).u32(recording.export(at));
        if (indirect) {
            out.u16(slot(recording.counts(at), recording.counts(at), false));
        } else {
            int sizeX = (int) (code[at + 4] >>> Integer.SIZE);
            int sizeY = (int) code[at + 4];
            int sizeZ = (int) (code[at + 5] >>> Integer.SIZE);
            // A recording has 1 for a size left to the code; only the peer's device knows the size in the code.
            boolean isLeft = sizeX == 1 && sizeY == 1 && sizeZ == 1;
            out.u32(recording.workgroupCount(at, 0))
                    .u32(recording.workgroupCount(at, 1))
                    .u32(recording.workgroupCount(at, 2))
                    .u32(isLeft ? 0 : sizeX)
                    .u32(isLeft ? 0 : sizeY)
                    .u32(isLeft ? 0 : sizeZ)
                    .u32((int) code[at + 3]);
        }
        out.u8(recording.constantCount(at));
        for (int i = 0; i < recording.constantCount(at); i++) {
            out.u32(recording.constant(at, i));
        }
        out.u8(recording.bindingCount(at));
        int range = recording.bindings(at);
        for (int i = 0; i < recording.bindingCount(at); i++, range += Recording.RANGE_WORDS) {
            out.u16(slot(range, range, true));
        }
    }

    private int slot(int at, int lengthOf, boolean written) {
        long[] code = recording.code();
        List<Long> key =
                List.of(code[at], code[at + 1], code[lengthOf + 2], lengthOf == at ? -1L : lengthOf, written ? 1L : 0L);
        Integer known = slotOf.get(key);
        if (known != null) {
            return known;
        }
        if (slots.size() == SLOTS_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "commands for a remote device use %d ranges, the limit; record several".formatted(SLOTS_LIMIT));
        }
        slots.add(new Range(at, lengthOf, written));
        slotOf.put(key, slots.size() - 1);
        return slots.size() - 1;
    }

    @Override
    public void invalidate() {
        commands = null;
    }

    @Override
    public void close() {
        if (handle != 0) {
            driver.client().release(handle);
            handle = 0;
        }
    }
}

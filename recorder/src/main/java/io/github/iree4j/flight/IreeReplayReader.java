package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightRecording.Header;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the queue operations of a capture of IREE's HAL: the submitted operations, with their waits and signals. The
 * file may be truncated, damaged or hostile.
 *
 * <p>A capture has no times, so an operation's number takes the place of the time; no completions, no frontiers and no
 * decisions. Buffers, executables and commands are left out: see {@link IreeReplay}.
 */
final class IreeReplayReader {
    static final int MAGIC = 0x5052_5249;
    private static final int VERSION = 2;
    private static final int FILE_HEADER = 24;
    private static final int RECORD_HEADER = 96;
    private static final int RESERVED = 80; // a word of 32 bits, and after padding a word of 64
    private static final int OPERATION = 3;
    private static final int UNSUPPORTED = 5; // the last known kind of record
    private static final int OPTIONAL = 1; // a flag: readers not knowing the kind may skip the record
    private static final int SESSION = 1;
    private static final long MAXIMUM_FILE = 4L << 30; // contents of buffers are skipped
    private static final int MAXIMUM_POINTS = 4096;
    private static final int MAXIMUM_OPERATIONS = 1 << 20;

    /**
     * A kind of queue operation: the payload's number and header size, and the positions of queue affinity and counts
     * of waits and signals.
     */
    private enum Kind {
        ALLOCA(QueueOperation.ALLOCA, 13, 12, 72, 40, 56),
        DEALLOCA(QueueOperation.DEALLOCA, 14, 14, 64, 32, 48),
        FILL(QueueOperation.FILL, 15, 15, 72, 32, 48),
        UPDATE(QueueOperation.UPDATE, 16, 16, 80, 32, 64),
        COPY(QueueOperation.COPY, 17, 17, 96, 64, 80),
        READ(QueueOperation.READ, 18, 24, 88, 48, 72),
        WRITE(QueueOperation.WRITE, 19, 25, 80, 48, 64),
        DISPATCH(QueueOperation.DISPATCH, 21, 8, 120, 8, 88),
        EXECUTE(QueueOperation.EXECUTE, 22, 9, 48, 8, 24);

        private final String text;
        private final int operation;
        private final int payload;
        private final int size;
        private final int affinity;
        private final int waits; // the number of signals follows

        Kind(String text, int operation, int payload, int size, int affinity, int waits) {
            this.text = text;
            this.operation = operation;
            this.payload = payload;
            this.size = size;
            this.affinity = affinity;
            this.waits = waits;
        }
    }

    private final String name;
    private final FileChannel file;
    private final long size;
    private final RecordWords records = new RecordWords();
    private final List<String> names = new ArrayList<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<Long, Integer> queueNumbers = new HashMap<>(); // by device and index
    private final List<RecordedQueue> queues = new ArrayList<>();
    private long operations;
    private long leftOut;
    private long unsupported;

    IreeReplayReader(String name, FileChannel file) throws IOException {
        this.name = name;
        this.file = file;
        this.size = file.size();
        name("");
    }

    IreeReplay read() throws IOException {
        ByteBuffer head = bytes(0, FILE_HEADER);
        int magic = head.getInt();
        int major = Short.toUnsignedInt(head.getShort());
        head.getShort();
        long position = Integer.toUnsignedLong(head.getInt());
        if (magic != MAGIC) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "'%s' is not an IREE replay".formatted(name));
        }
        if (major != VERSION) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "IREE replay '%s' has version %d; this release reads version %d".formatted(name, major, VERSION));
        }
        int fileFlags = head.getInt();
        long length = head.getLong();
        long end = length == 0 ? size : length;
        if (position < FILE_HEADER || position > end || end > size || end > MAXIMUM_FILE || fileFlags != 0) {
            throw damaged(
                    0,
                    "has a header of %d bytes with flags 0x%x, and contents of %d in a file of %d"
                            .formatted(position, fileFlags, end, size));
        }
        while (position < end) {
            position = record(position, end);
        }
        RecordedNames all = new RecordedNames(0);
        all.add(Definitions.NO_NAME, List.copyOf(names));
        FlightRecording recording = new FlightRecording(
                new Header(Instant.EPOCH, Frontier.DEFAULT_CAPACITY, operations, 0, 0, 0),
                all,
                List.copyOf(queues),
                List.of(),
                records.sorted());
        return new IreeReplay(recording, operations, leftOut, unsupported);
    }

    /** Reads a record; returns the position of the next record. */
    private long record(long position, long end) throws IOException {
        ByteBuffer head = bytes(position, RECORD_HEADER);
        long length = head.getLong();
        long payload = head.getLong();
        head.getLong();
        long thread = head.getLong();
        long device = head.getLong();
        head.getLong();
        head.getLong();
        int headerLength = head.getInt();
        int type = Short.toUnsignedInt(head.getShort());
        int flags = Short.toUnsignedInt(head.getShort());
        int payloadType = head.getInt();
        head.getInt();
        int code = head.getInt();
        int status = head.getInt();
        long reserved = head.getInt(RESERVED) | head.getLong(RESERVED + Long.BYTES);
        if (headerLength < RECORD_HEADER
                || payload < 0
                || length < headerLength
                || payload != length - headerLength
                || length > end - position) {
            throw damaged(
                    position,
                    "has a record of %d bytes with a header of %d and a payload of %d, and %d bytes are left"
                            .formatted(length, headerLength, payload, end - position));
        }
        if ((flags & ~OPTIONAL) != 0 || reserved != 0) {
            throw damaged(position, "has a record with flags 0x%x and reserved words 0x%x".formatted(flags, reserved));
        }
        if ((type == 0 || type > UNSUPPORTED) && flags != OPTIONAL) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "IREE replay '%s' has a record of kind %d at byte %d, which this release does not know and may not skip"
                            .formatted(name, type, position));
        }
        unsupported += type == UNSUPPORTED ? 1 : 0;
        Kind kind = type == OPERATION && status == 0 ? kind(code) : null; // refused operations were not submitted
        if (kind != null && kind.payload == payloadType) {
            operation(kind, position + headerLength, payload, thread, device);
        } else {
            leftOut += type == OPERATION ? 1 : 0;
        }
        return position + length;
    }

    private static @Nullable Kind kind(int code) {
        for (Kind each : Kind.values()) {
            if (each.operation == code) {
                return each;
            }
        }
        return null;
    }

    private void operation(Kind kind, long position, long length, long thread, long device) throws IOException {
        if (operations == MAXIMUM_OPERATIONS) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "IREE replay '%s' has more than %d operations".formatted(name, MAXIMUM_OPERATIONS));
        }
        if (length < kind.size) {
            throw damaged(position, "has a %s of %d bytes".formatted(kind.text, length));
        }
        ByteBuffer head = bytes(position, kind.size);
        long affinity = head.getLong(kind.affinity);
        long waits = head.getLong(kind.waits);
        long signals = head.getLong(kind.waits + Long.BYTES);
        if (waits < 0
                || signals < 0
                || waits > MAXIMUM_POINTS
                || signals > MAXIMUM_POINTS
                || (waits + signals) * 2 * Long.BYTES > length - kind.size) {
            throw damaged(
                    position,
                    "has a %s of %d bytes with %d waits and %d signals".formatted(kind.text, length, waits, signals));
        }
        int points = (int) (waits + signals);
        ByteBuffer all = bytes(position + kind.size, points * 2 * Long.BYTES);
        long number = ++operations;
        records.begin(RecordType.HEADER + 8 + 2 * points);
        records.put(RecordType.header(RecordType.SUBMITTED, RecordType.HEADER + 8 + 2 * points));
        records.put(number - 1);
        records.put(number);
        records.put(number);
        records.put(axis(device, affinity));
        records.put(name(kind.text));
        records.put(0);
        records.put(0);
        records.put(thread);
        records.put(waits);
        records.put(signals);
        while (all.hasRemaining()) {
            records.put(all.getLong());
        }
    }

    /** Returns the axis of the first queue allowed by a capture, in the numbering used here. */
    private long axis(long device, long affinity) {
        int index = affinity == 0 ? 0 : Long.numberOfTrailingZeros(affinity);
        int number = queueNumbers.computeIfAbsent(device * Long.SIZE + index, unused -> {
            if (queues.size() == Definitions.MAXIMUM_QUEUES) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "IREE replay '%s' has more than %d queues".formatted(name, Definitions.MAXIMUM_QUEUES));
            }
            queues.add(new RecordedQueue(
                    Axis.of(SESSION, 0, CausalDomain.QUEUE, queues.size()), "device-" + device, index, true, 0));
            return queues.size() - 1;
        });
        return queues.get(number).axis();
    }

    private int name(String text) {
        return numbers.computeIfAbsent(text, unused -> {
            names.add(text);
            return names.size() - 1;
        });
    }

    private ByteBuffer bytes(long position, int length) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        while (all.hasRemaining()) {
            if (file.read(all, position + all.position()) < 0) {
                throw damaged(position, "ends after %d bytes".formatted(size));
            }
        }
        return all.flip();
    }

    private IreeException damaged(long position, String what) {
        return IreeException.of(StatusCode.DATA_LOSS, "IREE replay '%s' %s at byte %d".formatted(name, what, position));
    }
}

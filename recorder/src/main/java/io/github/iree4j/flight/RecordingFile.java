package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightRecording.Header;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of a recording: a header and chunks, each with length and checksum. docs/recorder.md specifies the format.
 */
final class RecordingFile {
    static final byte[] MAGIC = "IREE4JFR".getBytes(StandardCharsets.US_ASCII);
    static final int VERSION = 7;

    /**
     * The oldest readable version. Version 1 lacks records of kind 12, version 2 of kinds 13 to 15, version 3 of kinds
     * 16 and 17, the time of the end, and the reached waits of kind 13, version 4 of kinds 18 to 20 (in place of 7, 11
     * and 15), version 5 of kinds 21 to 26 (23 in place of 1, 24 in place of 14), version 6 of kind 27 (in place of
     * 18); up to version 5 the numbers of names have no gaps.
     */
    static final int OLDEST_VERSION = 1;

    static final int HEADER_BYTES = 16;
    static final int CHUNK_HEADER_BYTES = 12;

    static final int INFO = 1;
    static final int NAMES = 2;
    static final int QUEUES = 3;
    static final int POOLS = 4;
    static final int RECORDS = 5;
    static final int END = 6;

    /** The largest payload of a chunk. */
    static final int MAXIMUM_CHUNK = 16 << 20;

    /** The usual limit of a chunk of records, exceeded only by a larger record: damage to a byte costs no more than such a chunk. */
    private static final int USUAL_CHUNK = 256 << 10;

    /**
     * The most bytes, beyond the limit of a file, for the records of operations and calls open at the end and of the
     * memory held, with the names and queues of these records: a full file names hanging work, too. The most operations
     * and calls of {@link OpenRecords} have room, with three points each on timelines with names of up to 40 bytes.
     */
    static final int OPEN_BYTES = 48 << 20;

    private static final int INFO_BYTES = 16;
    private static final int END_BYTES = 32;

    private static final Logger LOG = LoggerFactory.getLogger(FlightRecorder.class);

    private RecordingFile() {}

    /** Returns the most bytes of records read: of a file with the usual limit, or an eighth of the heap if smaller. */
    static long limit() {
        return Math.min(
                RecorderOptions.DEFAULTS.fileBytes() + OPEN_BYTES,
                Runtime.getRuntime().maxMemory() / 8);
    }

    /** Writes a file piece by piece. A single thread at a time. */
    static final class Appender {
        private final OutputStream target;
        private final long limit;
        private long written;
        private int names; // above the numbers of the written names
        private int queues;
        private int pools;
        private boolean full; // nothing is taken after a missing record

        private Appender(OutputStream target, long limit) {
            this.target = target;
            this.limit = limit;
        }

        static Appender create(Path file, long limit, Header header) throws IOException {
            Appender appender = new Appender(Files.newOutputStream(file), limit);
            appender.begin(header);
            return appender;
        }

        private void begin(Header header) throws IOException {
            ByteBuffer first = buffer(HEADER_BYTES).put(MAGIC).putInt(VERSION).putInt(0);
            target.write(first.array());
            written = HEADER_BYTES;
            chunk(
                    INFO,
                    buffer(INFO_BYTES)
                            .putLong(header.start().getEpochSecond())
                            .putInt(header.start().getNano())
                            .putInt(header.frontierCapacity()));
        }

        /** Appends records, with the new definitions; returns the number of records without room. */
        long append(
                RecordedNames allNames, List<RecordedQueue> allQueues, List<RecordedPool> allPools, RecordWords records)
                throws IOException {
            long refused = full ? records.count() : append(allNames, allQueues, allPools, records, limit);
            full |= refused > 0;
            return refused;
        }

        /** Appends the records of open operations and calls before the end, to a full file too; otherwise as {@link #append}. */
        long appendOpen(
                RecordedNames allNames, List<RecordedQueue> allQueues, List<RecordedPool> allPools, RecordWords records)
                throws IOException {
            return append(allNames, allQueues, allPools, records, limit + OPEN_BYTES);
        }

        private long append(
                RecordedNames allNames,
                List<RecordedQueue> allQueues,
                List<RecordedPool> allPools,
                RecordWords records,
                long most)
                throws IOException {
            if (records.count() == 0) {
                return 0;
            }
            List<ByteBuffer> named = named(allNames);
            ByteBuffer newQueues = queues(allQueues);
            ByteBuffer newPools = pools(allPools);
            long room =
                    most - written - 3 * CHUNK_HEADER_BYTES - END_BYTES - newQueues.position() - newPools.position();
            for (ByteBuffer each : named) {
                room -= each.position() + CHUNK_HEADER_BYTES;
            }
            if (room <= 0) {
                return records.count();
            }
            for (ByteBuffer each : named) {
                chunk(NAMES, each);
            }
            chunk(QUEUES, newQueues);
            chunk(POOLS, newPools);
            names = allNames.next();
            queues = allQueues.size();
            pools = allPools.size();
            int next = 0;
            while (next < records.count()) {
                int taken = 0;
                long bytes = 0;
                while (next + taken < records.count()) {
                    long more = (long) RecordType.words(records.word(next + taken, 0)) * Long.BYTES;
                    if (bytes + more > (taken == 0 ? MAXIMUM_CHUNK : USUAL_CHUNK)
                            || bytes + more + CHUNK_HEADER_BYTES > room) {
                        break;
                    }
                    bytes += more;
                    taken++;
                }
                if (taken == 0) {
                    break;
                }
                ByteBuffer payload = buffer((int) bytes);
                payload.asLongBuffer().put(records.words(), records.start(next), (int) (bytes / Long.BYTES));
                chunk(RECORDS, payload.position((int) bytes));
                room -= bytes + CHUNK_HEADER_BYTES;
                next += taken;
            }
            target.flush();
            return (long) records.count() - next;
        }

        void end(Header header) throws IOException {
            chunk(
                    END,
                    buffer(END_BYTES)
                            .putLong(header.next())
                            .putLong(header.completeFrom())
                            .putLong(header.dropped())
                            .putLong(header.taken()));
            target.close();
        }

        /** Closes a file no longer writable. */
        void abandon() {
            try {
                target.close();
            } catch (IOException e) {
                LOG.debug("a recording's file could not be closed", e);
            }
        }

        long bytes() {
            return written;
        }

        boolean isFull() {
            return full;
        }

        /** Returns a number above the numbers of all written names. */
        int nextName() {
            return names;
        }

        /** Returns a chunk for each run of consecutive names. */
        private List<ByteBuffer> named(RecordedNames all) throws IOException {
            List<ByteBuffer> chunks = new ArrayList<>();
            for (Map.Entry<Integer, List<String>> run : all.from(names).entrySet()) {
                ByteArrayOutputStream text = new ByteArrayOutputStream();
                text.write(buffer(8)
                        .putInt(run.getKey())
                        .putInt(run.getValue().size())
                        .array());
                for (String name : run.getValue()) {
                    text.write(string(name));
                }
                chunks.add(filled(text));
            }
            return chunks;
        }

        private ByteBuffer queues(List<RecordedQueue> all) throws IOException {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            text.write(buffer(4).putInt(all.size() - queues).array());
            for (RecordedQueue each : all.subList(queues, all.size())) {
                text.write(buffer(21)
                        .putLong(each.axis())
                        .putInt(each.index())
                        .put((byte) (each.stream() ? 1 : 0))
                        .putLong(each.memoryLimit())
                        .array());
                text.write(string(each.device()));
            }
            return filled(text);
        }

        private ByteBuffer pools(List<RecordedPool> all) throws IOException {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            text.write(buffer(4).putInt(all.size() - pools).array());
            for (RecordedPool each : all.subList(pools, all.size())) {
                text.write(buffer(4).putInt(each.set()).array());
                text.write(string(each.name()));
            }
            return filled(text);
        }

        private static ByteBuffer filled(ByteArrayOutputStream text) {
            return ByteBuffer.wrap(text.toByteArray()).position(text.size());
        }

        private static byte[] string(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            int length = Math.min(bytes.length, 0xFFFF);
            return buffer(2 + length)
                    .putShort((short) length)
                    .put(bytes, 0, length)
                    .array();
        }

        private void chunk(int kind, ByteBuffer payload) throws IOException {
            payload.flip();
            CRC32C checksum = new CRC32C();
            checksum.update(payload.duplicate());
            ByteBuffer head = buffer(CHUNK_HEADER_BYTES)
                    .putInt(kind)
                    .putInt(payload.remaining())
                    .putInt((int) checksum.getValue());
            target.write(head.array());
            target.write(payload.array(), 0, payload.limit());
            written += CHUNK_HEADER_BYTES + payload.limit();
        }
    }

    private static ByteBuffer buffer(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    static void write(Path file, FlightRecording recording) throws IOException {
        try (OutputStream target = Files.newOutputStream(file)) {
            write(target, recording);
        }
    }

    static byte[] bytes(FlightRecording recording) {
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        try {
            write(target, recording);
        } catch (IOException e) {
            throw new AssertionError("memory cannot fail", e);
        }
        return target.toByteArray();
    }

    private static void write(OutputStream target, FlightRecording recording) throws IOException {
        Appender appender = new Appender(target, Long.MAX_VALUE);
        appender.begin(recording.header());
        appender.append(recording.names(), recording.queues(), recording.pools(), recording.records());
        appender.end(recording.header());
    }

    static FlightRecording read(Path file, boolean partly) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return new RecordingFileReader(file.toString(), channel, partly).read();
        }
    }

    static Instant start(ByteBuffer payload) {
        long seconds = payload.getLong();
        int nanos = payload.getInt();
        return seconds < Instant.MIN.getEpochSecond() || seconds > Instant.MAX.getEpochSecond() || nanos < 0
                ? Instant.EPOCH
                : Instant.ofEpochSecond(seconds, nanos);
    }
}

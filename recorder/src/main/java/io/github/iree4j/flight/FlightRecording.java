package io.github.iree4j.flight;

import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The records of a recorder: from the recorder's ring, or from a file. Immutable. */
public final class FlightRecording {
    private final Header header;
    private final RecordedNames names;
    private final List<RecordedQueue> queues;
    private final List<RecordedPool> pools;
    private final RecordWords records;
    private final List<FlightEvent> events;
    private final String damage;

    /**
     * Information about a recording as a whole.
     *
     * @param start when the recorder was opened
     * @param frontierCapacity the most entries of a frontier
     * @param next sequence numbers of later records are at or above this
     * @param completeFrom of the records below this sequence number some, or all, are missing; records of operations
     *     that had not ended when the recording was taken are there all the same, see {@link FlightEvent.Open}
     * @param dropped number of records missing in a file, since the file was full or the disk was slow; at least 1 for a
     *     salvaged file without its end; number of records behind a page of a ring, else 0 for a ring
     * @param taken when the recording was taken, or its file completed, in nanoseconds since the recorder was opened; the
     *     time of the last record where the file has no other
     */
    public record Header(Instant start, int frontierCapacity, long next, long completeFrom, long dropped, long taken) {}

    FlightRecording(
            Header header,
            RecordedNames names,
            List<RecordedQueue> queues,
            List<RecordedPool> pools,
            RecordWords records) {
        this(header, names, queues, pools, records, "");
    }

    FlightRecording(
            Header header,
            RecordedNames names,
            List<RecordedQueue> queues,
            List<RecordedPool> pools,
            RecordWords records,
            String damage) {
        this.header = header;
        this.names = names;
        this.queues = queues;
        this.pools = pools;
        this.records = records;
        this.damage = damage;
        RecordReader reader = new RecordReader(records, names, pools.size());
        List<FlightEvent> all = new ArrayList<>(records.count());
        for (int i = 0; i < records.count(); i++) {
            all.add(reader.read(i));
        }
        this.events = List.copyOf(all);
    }

    /**
     * Reads a file.
     *
     * @param file a file written by a recorder
     * @return the recording
     * @throws IOException when the file cannot be read
     * @throws IreeException DATA_LOSS for a truncated or damaged file, RESOURCE_EXHAUSTED for a file beyond the limit,
     *     UNIMPLEMENTED for another version
     */
    public static FlightRecording read(Path file) throws IOException {
        return RecordingFile.read(file, false);
    }

    /**
     * Reads the undamaged part of a file, for a process that did not end in order.
     *
     * @param file a file written by a recorder
     * @return the recording, up to the first damaged or missing part
     * @throws IOException when the file cannot be read
     * @throws IreeException when not even the beginning can be read
     */
    public static FlightRecording salvage(Path file) throws IOException {
        return RecordingFile.read(file, true);
    }

    /**
     * Returns the damage of a salvaged file, and how much was read. The state of an operation is unknown where the end
     * may lie behind the damage.
     *
     * @return the damage, for people; empty for none
     */
    public String damage() {
        return damage;
    }

    /**
     * Writes a file.
     *
     * @param file the file, replaced if there is one
     * @throws IOException when the file cannot be written
     */
    public void write(Path file) throws IOException {
        RecordingFile.write(file, this);
    }

    /**
     * Returns the contents of a file as written by {@link #write}.
     *
     * @return the bytes
     */
    public byte[] toBytes() {
        return RecordingFile.bytes(this);
    }

    /**
     * Returns the information about the recording as a whole.
     *
     * @return the header
     */
    public Header header() {
        return header;
    }

    /**
     * Returns the recorded queues.
     *
     * @return in the order of their first operation
     */
    public List<RecordedQueue> queues() {
        return queues;
    }

    /**
     * Returns the recorded pools.
     *
     * @return the pools; records refer to them by index
     */
    public List<RecordedPool> pools() {
        return pools;
    }

    /**
     * Returns the records.
     *
     * @return in the order of recording
     */
    public List<FlightEvent> events() {
        return events;
    }

    RecordedNames names() {
        return names;
    }

    RecordWords records() {
        return records;
    }
}

package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightRecording.Header;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueObservation;
import io.github.iree4j.status.FileKind;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Records the activity of the queues and pools of a scheduling domain, while the recorder is open. A domain has at most
 * a single recorder.
 *
 * <pre>{@code
 * try (FlightRecorder recorder = FlightRecorder.open(SchedulingDomain.ofProcess(), RecorderOptions.DEFAULTS)) {
 *     program.function("main").invoke(inputs);
 *     recorder.recording().write(Path.of("main.iree4j"));
 * }
 * }</pre>
 *
 * <p>Recording takes some hundred nanoseconds for each operation and keeps no memory beyond the rings and definitions.
 * Recording threads never wait for readers or for the disk, beyond the copying of a ring. Safe from any thread.
 */
public final class FlightRecorder implements AutoCloseable {
    private final Instant start = Instant.now();
    private final SchedulingDomain domain;
    private final RecordRings rings;
    private final Definitions definitions;
    private final RecordingDrain drain;
    private final RecordingObserver observer;
    private final QueueObservation queues;
    private volatile @Nullable Closing closing; // null while open

    /** The records of open work, and the time, when the recorder was closed: later ends are not recorded. */
    private record Closing(RecordWords open, long time) {}

    /**
     * Counts of a recorder's work.
     *
     * @param recorded number of records made
     * @param completeFrom some or all records below this sequence number, or their names, are dropped
     * @param fileBytes bytes written to the file
     * @param fileDropped records missing in the file, because the file was full, or because the disk was too slow for
     *     the ring
     */
    public record Statistics(long recorded, long completeFrom, long fileBytes, long fileDropped) {}

    private FlightRecorder(SchedulingDomain domain, RecorderOptions options, LongSupplier clock) throws IOException {
        this.domain = domain;
        this.rings = RecordRings.create(options.bytes(), Runtime.getRuntime().availableProcessors(), clock);
        this.definitions = new Definitions(rings::cut);
        this.drain = new RecordingDrain(
                options, rings, definitions, new Header(start, domain.frontierCapacity(), 0, 0, 0, 0));
        this.observer = new RecordingObserver(rings, definitions, domain.tracker(), drain, options.dispatches());
        this.queues = QueueObservation.begin(domain, observer);
        observer.begun();
        observer.open(queues, List.of(), OpenRecords.Calls.NONE, 0, 0); // open operations were submitted before
        try {
            drain.open(); // not before the domain is ours: another recorder may have the file
        } catch (IOException e) {
            queues.close();
            throw e;
        }
        try {
            domain.memory().begin(observer);
        } catch (IreeException e) {
            queues.close();
            drain.close(new RecordWords());
            throw e;
        }
    }

    /**
     * Begins to record.
     *
     * @param domain the domain
     * @param options the limits
     * @return the recorder; the caller closes it
     * @throws IOException when the file cannot be written
     * @throws IreeException FAILED_PRECONDITION when the domain has a recorder; INVALID_ARGUMENT when the file is a pipe, a device or a directory
     */
    public static FlightRecorder open(SchedulingDomain domain, RecorderOptions options) throws IOException {
        return open(domain, options, System::nanoTime);
    }

    /**
     * Begins to record, with the time of another clock: for virtual devices.
     *
     * @param domain the domain
     * @param options the limits
     * @param clock nanoseconds
     * @return the recorder; the caller closes it
     * @throws IOException when the file cannot be written
     * @throws IreeException FAILED_PRECONDITION when the domain has a recorder; INVALID_ARGUMENT when the file is a
     *     pipe, a device or a directory
     */
    public static FlightRecorder open(SchedulingDomain domain, RecorderOptions options, LongSupplier clock)
            throws IOException {
        Path file = options.file();
        if (file != null && Files.exists(file)) {
            FileKind.requireRegular("recording", file);
        }
        return new FlightRecorder(domain, options, clock);
    }

    /**
     * Returns the contents of the ring, with a record of each open operation, of each call in progress, and of the
     * memory held, however old.
     *
     * @return the recording so far
     */
    public FlightRecording recording() {
        return since(0);
    }

    /**
     * Returns the contents of the ring from a position on, for returning readers: with {@link Header#next} of the last
     * reading.
     *
     * @param from a sequence number
     * @return the records at or above the number; {@link Header#completeFrom} is not below the number
     */
    public FlightRecording since(long from) {
        return since(from, Integer.MAX_VALUE);
    }

    /**
     * Returns a part of the ring's contents from a position on, for readers with pages. The last page also has the
     * records of open operations, of calls in progress and of the memory held.
     *
     * @param from a sequence number
     * @param most the most records, at least 1
     * @return the first records at or above the number; {@link Header#next} begins the next page, and {@link
     *     Header#completeFrom} is above the number where the ring has dropped records of this page, or their names
     */
    public FlightRecording since(long from, int most) {
        // Before the cut: the signallers of the points awaited by a listed call are then below the cut, or listed.
        OpenRecords.Calls calls = OpenRecords.calls(domain);
        Closing closed = closing;
        List<PoolRecords> pools = closed == null ? observer.pools(domain.memory()) : List.of();
        long now = closed == null ? rings.now() : closed.time();
        long cut = rings.cut();
        int page = Math.max(1, most);
        // The first records of all are among the first of each stripe; with one more, a page knows of later records.
        RecordWords records = rings.copy(from, cut, page == Integer.MAX_VALUE ? page : page + 1);
        long later = 0; // records behind the page
        if (records.count() > page) {
            records = records.first(page);
            long end = records.word(records.count() - 1, 1) + 1;
            later = Math.max(1, cut - end);
            cut = end;
        } else {
            records = records.with(
                    closed != null
                            ? closed.open()
                            : observer.open(queues, pools, calls, cut, now)); // open now, so open at the cut
        }
        RecordedNames names = definitions.names();
        long completeFrom = Math.min(cut, Math.max(from, completeFrom())); // after the names
        return new FlightRecording(
                new Header(start, domain.frontierCapacity(), cut, completeFrom, later, now),
                names,
                definitions.queues(),
                definitions.pools(),
                records);
    }

    private long completeFrom() {
        return Math.max(rings.completeFrom(), definitions.completeFrom());
    }

    /**
     * Returns the counts of the recorder's work so far.
     *
     * @return the counts now
     */
    public Statistics statistics() {
        return new Statistics(rings.cut(), completeFrom(), drain.bytes(), drain.dropped());
    }

    /**
     * Ends the recording, and completes the file. The contents of the ring can still be read, as of now: operations and
     * calls in progress now stay open in the recording. Idempotent.
     */
    @Override
    public synchronized void close() {
        if (closing != null) {
            return;
        }
        List<PoolRecords> pools = observer.pools(domain.memory());
        domain.memory().end(observer);
        OpenRecords.Calls calls = OpenRecords.calls(domain);
        long now = rings.now();
        RecordWords open = observer.open(queues, pools, calls, rings.cut(), now);
        closing = new Closing(open, now);
        queues.close(); // last, so the next recorder finds both free
        drain.close(open);
    }
}

package io.github.iree4j.flight;

import io.github.iree4j.async.HandoffThread;
import io.github.iree4j.flight.FlightRecording.Header;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Moves records from the rings to a file, on a separate thread; does nothing where there is no file. */
final class RecordingDrain {
    private static final Logger LOG = LoggerFactory.getLogger(FlightRecorder.class);

    /** The age in nanoseconds at which even a few records are written. */
    private static final long PERIOD = 1_000_000_000;

    private final RecorderOptions options;
    private final RecordRings rings;
    private final Definitions definitions;
    private final Header header;
    private final HandoffThread thread;
    private final AtomicBoolean planned = new AtomicBoolean();
    private final AtomicLong last = new AtomicLong();
    private final AtomicLong refused = new AtomicLong(); // records without room in the file
    private final AtomicLong bytes = new AtomicLong();
    private RecordingFile.@Nullable Appender file; // guarded by this; null without a file, and after its end
    private long completeFrom; // guarded by this: of the file's records below, some or their names had been dropped
    private final boolean hasFile;

    RecordingDrain(RecorderOptions options, RecordRings rings, Definitions definitions, Header header) {
        this.options = options;
        this.rings = rings;
        this.definitions = definitions;
        this.header = header;
        this.hasFile = options.file() != null;
        this.thread = new HandoffThread("iree4j-recorder");
    }

    /** Creates the file, if requested. Records made before stay in the rings until then. */
    synchronized void open() throws IOException {
        Path path = options.file();
        if (path != null) {
            file = RecordingFile.Appender.create(path, options.fileBytes(), header);
        }
    }

    /** Has the file written when due, after a record was made. Called without the monitor of the ring. */
    void look(RecordRing ring, long now) {
        if (hasFile && (now - last.get() > PERIOD || ring.isHalfUnread()) && !planned.getAndSet(true)) {
            thread.execute(this::drain);
        }
    }

    private void drain() {
        planned.set(false);
        last.set(rings.now());
        move(null);
    }

    /** Moves the records of the rings to the file, and the records of the end, if any. */
    private synchronized void move(@Nullable RecordWords open) {
        RecordingFile.Appender target = file;
        if (target == null) {
            return;
        }
        RecordWords records = rings.drain(rings.cut());
        try {
            RecordedNames names = definitions.names();
            if (!target.isFull()) {
                completeFrom = Math.max(completeFrom, rings.lostBelow());
                if (!names.hasAllFrom(target.nextName())) {
                    completeFrom = Math.max(completeFrom, names.completeFrom());
                }
            }
            List<RecordedQueue> queues = definitions.queues();
            List<RecordedPool> pools = definitions.pools();
            refused.addAndGet(target.append(names, queues, pools, records));
            if (open != null) {
                refused.addAndGet(target.appendOpen(names, queues, pools, open));
            }
            bytes.set(target.bytes());
        } catch (IOException e) {
            refused.addAndGet(records.count());
            file = null;
            target.abandon();
            LOG.warn("the recording's file cannot be written any more; its ring goes on", e);
        }
    }

    /** Returns the number of records missing in the file. */
    long dropped() {
        return hasFile ? refused.get() + rings.dropped() : 0;
    }

    long bytes() {
        return bytes.get();
    }

    /**
     * Writes the remaining records, and the end of the file. Idempotent.
     *
     * @param open records of the operations and calls that have not ended, written to a full file too
     */
    synchronized void close(RecordWords open) {
        move(open);
        RecordingFile.Appender target = file;
        file = null;
        if (target == null) {
            return;
        }
        try {
            target.end(new Header(
                    header.start(), header.frontierCapacity(), rings.cut(), completeFrom, dropped(), rings.now()));
            bytes.set(target.bytes());
        } catch (IOException e) {
            target.abandon();
            LOG.warn("the recording's file could not be completed", e);
        }
    }
}

package io.github.iree4j.flight;

import io.github.iree4j.async.HandoffThread;
import io.github.iree4j.flight.FlightRecording.Header;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Moves records from the rings to a file, on a thread of its own; does nothing where there is no file. */
final class RecordingDrain {
    private static final Logger LOG = LoggerFactory.getLogger(FlightRecorder.class);

    /** How old records get, in nanoseconds, before they are written although there are few. */
    private static final long PERIOD = 1_000_000_000;

    private final RecordRings rings;
    private final Definitions definitions;
    private final Header header;
    private final HandoffThread thread;
    private final AtomicBoolean planned = new AtomicBoolean();
    private final AtomicLong last = new AtomicLong();
    private final AtomicLong refused = new AtomicLong(); // records that the file had no room for
    private final AtomicLong bytes = new AtomicLong();
    private RecordingFile.@Nullable Appender file; // guarded by this; null when there is none, or no longer
    private final boolean hasFile;

    private RecordingDrain(
            RecordRings rings, Definitions definitions, Header header, RecordingFile.@Nullable Appender file) {
        this.rings = rings;
        this.definitions = definitions;
        this.header = header;
        this.file = file;
        this.hasFile = file != null;
        this.thread = new HandoffThread("iree4j-recorder");
    }

    static RecordingDrain open(RecorderOptions options, RecordRings rings, Definitions definitions, Header header)
            throws IOException {
        return new RecordingDrain(
                rings,
                definitions,
                header,
                options.file() == null
                        ? null
                        : RecordingFile.Appender.create(options.file(), options.fileBytes(), header));
    }

    /** A record was made: has the file written when it is time. Called without the monitor of the ring. */
    void look(RecordRing ring, long now) {
        if (hasFile && (now - last.get() > PERIOD || ring.isHalfUnread()) && !planned.getAndSet(true)) {
            thread.execute(this::drain);
        }
    }

    private void drain() {
        planned.set(false);
        last.set(rings.now());
        move();
    }

    private synchronized void move() {
        RecordingFile.Appender target = file;
        if (target == null) {
            return;
        }
        RecordWords records = rings.drain(rings.cut());
        try {
            refused.addAndGet(target.append(definitions.names(), definitions.queues(), definitions.pools(), records));
            bytes.set(target.bytes());
        } catch (IOException e) {
            refused.addAndGet(records.count());
            file = null;
            LOG.warn("the recording's file cannot be written any more; its ring goes on", e);
        }
    }

    /** Number of records that are not in the file. */
    long dropped() {
        return hasFile ? refused.get() + rings.dropped() : 0;
    }

    long bytes() {
        return bytes.get();
    }

    /** Writes what is left, and the end of the file. Idempotent. */
    synchronized void close() {
        move();
        RecordingFile.Appender target = file;
        file = null;
        if (target == null) {
            return;
        }
        try {
            target.end(new Header(header.start(), header.frontierCapacity(), rings.cut(), 0, dropped()));
            bytes.set(target.bytes());
        } catch (IOException e) {
            LOG.warn("the recording's file could not be completed", e);
        }
    }
}

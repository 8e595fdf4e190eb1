package io.github.iree4j.cluster.transport;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Logs the reasons for failed connections to a port: a line of the log with the source address, at most once in ten
 * seconds. Thread-safe.
 */
final class ConnectionLog {
    private static final long PAUSE_NANOS = 10_000_000_000L;
    private static final int REASON_CHARACTERS = 160;

    private final Logger log;
    private final LongSupplier nanoTime;
    private boolean logged; // guarded by this, like the rest
    private long loggedAt;
    private long skipped;

    /**
     * Creates a log without lines.
     *
     * @param log the target
     * @param nanoTime the clock
     */
    ConnectionLog(Logger log, LongSupplier nanoTime) {
        this.log = log;
        this.nanoTime = nanoTime;
    }

    /**
     * Logs or counts a failed connection.
     *
     * @param from the source address; null when unknown
     * @param why the reason; may contain bytes sent by a stranger
     */
    void record(@Nullable Object from, String why) {
        long others;
        synchronized (this) {
            long now = nanoTime.getAsLong();
            if (logged && now - loggedAt < PAUSE_NANOS) {
                skipped++;
                return;
            }
            logged = true;
            loggedAt = now;
            others = skipped;
            skipped = 0;
        }
        String text = why.replaceAll("\\p{Cntrl}", " ");
        log.info(
                "connection from {} ended: {}{}",
                from,
                text.length() <= REASON_CHARACTERS ? text : text.substring(0, REASON_CHARACTERS) + " ...",
                others == 0 ? "" : " (and %d others since the last such line)".formatted(others));
    }
}

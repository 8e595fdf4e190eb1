package io.github.iree4j.cluster.membership;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Says why connections to a port failed: a line of the log with the address it came from, at most one in ten seconds. Thread-safe. */
public final class ConnectionLog {
    private static final long PAUSE_NANOS = 10_000_000_000L;
    private static final int REASON_CHARACTERS = 160;

    private final Logger log;
    private final String what;
    private final LongSupplier nanoTime;

    // Guarded by this.
    private boolean told;
    private long toldAt;
    private long untold;

    /**
     * Creates one that has said nothing.
     *
     * @param log where to
     * @param what begins each line: whose connections they are
     * @param nanoTime the clock
     */
    public ConnectionLog(Logger log, String what, LongSupplier nanoTime) {
        this.log = log;
        this.what = what;
        this.nanoTime = nanoTime;
    }

    /**
     * A connection has failed. Says so, or counts it.
     *
     * @param from the address it came from; null when that is not known
     * @param why the reason; what a stranger sent may be in it
     */
    public void tell(@Nullable Object from, String why) {
        long others;
        synchronized (this) {
            long now = nanoTime.getAsLong();
            if (told && now - toldAt < PAUSE_NANOS) {
                untold++;
                return;
            }
            told = true;
            toldAt = now;
            others = untold;
            untold = 0;
        }
        String text = why.replaceAll("\\p{Cntrl}", " ");
        log.info(
                "{} from {} ended: {}{}",
                what,
                from,
                text.length() <= REASON_CHARACTERS ? text : text.substring(0, REASON_CHARACTERS) + " ...",
                others == 0 ? "" : " (and %d others since the last such line)".formatted(others));
    }
}

package io.github.iree4j.cluster.membership;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Says why connections to a port failed: a line of the log with the address it came from, at most one in ten seconds. Hosts that are expected have
 * lines of their own, so that strangers do not keep theirs out. Thread-safe.
 */
public final class ConnectionLog {
    private static final long PAUSE_NANOS = 10_000_000_000L;
    private static final int REASON_CHARACTERS = 160;
    private static final int MOST_HOSTS = 256;

    private final Logger log;
    private final String what;
    private final LongSupplier nanoTime;
    private final Predicate<InetAddress> expected;
    private final Lines strangers = new Lines(); // guarded by this, like the next
    private final Map<InetAddress, Lines> hosts = new HashMap<>();

    /** The lines that share ten seconds. */
    private static final class Lines {
        boolean told;
        long toldAt;
        long untold;
    }

    /**
     * Creates one that has said nothing, and expects no host.
     *
     * @param log where to
     * @param what begins each line: whose connections they are
     * @param nanoTime the clock
     */
    public ConnectionLog(Logger log, String what, LongSupplier nanoTime) {
        this(log, what, nanoTime, _ -> false);
    }

    /** With the hosts that are expected. */
    ConnectionLog(Logger log, String what, LongSupplier nanoTime, Predicate<InetAddress> expected) {
        this.log = log;
        this.what = what;
        this.nanoTime = nanoTime;
        this.expected = expected;
    }

    /**
     * A connection has failed. Says so, or counts it.
     *
     * @param from the address it came from; null when that is not known
     * @param why the reason; what a stranger sent may be in it
     */
    public void tell(@Nullable Object from, String why) {
        InetAddress host = from instanceof InetSocketAddress of ? of.getAddress() : null;
        boolean isExpected = host != null && expected.test(host);
        long others;
        synchronized (this) {
            if (hosts.size() >= MOST_HOSTS) { // their addresses have changed
                hosts.clear();
            }
            Lines lines = isExpected ? hosts.computeIfAbsent(host, _ -> new Lines()) : strangers;
            long now = nanoTime.getAsLong();
            if (lines.told && now - lines.toldAt < PAUSE_NANOS) {
                lines.untold++;
                return;
            }
            lines.told = true;
            lines.toldAt = now;
            others = lines.untold;
            lines.untold = 0;
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

package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Logs the reasons for failed connections to a port: a line of the log with the source address, at most once in ten
 * seconds. Expected hosts have separate limits, so that strangers do not suppress the lines of expected hosts.
 * Thread-safe.
 */
@NotForApplications
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

    /** The lines sharing a limit of ten seconds. */
    private static final class Lines {
        boolean told;
        long toldAt;
        long untold;
    }

    /**
     * Creates a log without lines and without expected hosts.
     *
     * @param log the target
     * @param what the beginning of each line: the kind of connections
     * @param nanoTime the clock
     */
    public ConnectionLog(Logger log, String what, LongSupplier nanoTime) {
        this(log, what, nanoTime, _ -> false);
    }

    /** Creates a log with expected hosts. */
    ConnectionLog(Logger log, String what, LongSupplier nanoTime, Predicate<InetAddress> expected) {
        this.log = log;
        this.what = what;
        this.nanoTime = nanoTime;
        this.expected = expected;
    }

    /**
     * Logs or counts a failed connection.
     *
     * @param from the source address; null when unknown
     * @param why the reason; may contain bytes sent by a stranger
     */
    public void tell(@Nullable Object from, String why) {
        InetAddress host = from instanceof InetSocketAddress of ? of.getAddress() : null;
        boolean isExpected = host != null && expected.test(host);
        long others;
        synchronized (this) {
            if (hosts.size() >= MOST_HOSTS) { // the hosts' addresses have changed
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

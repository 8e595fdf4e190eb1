package io.github.iree4j.cluster.membership;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An address where this node looks for a node. The log has a line for each cause of failures until the address is reached.
 * Not thread-safe.
 */
final class Contact {
    private static final Logger log = LoggerFactory.getLogger(Contact.class);
    private static final int MOST_CAUSES = 8;
    private static final long LONGEST_PAUSE_NANOS = 5_000_000_000L;
    private static final int MOST_DOUBLINGS = 8;

    private final String text; // host and port
    private final Set<String> causes = new HashSet<>(); // in the log
    private @Nullable IreeException failure; // of the last message
    private @Nullable ClusterMember answered; // last, perhaps this node
    private long answeredAt;
    private int failures; // since the last answer
    private long notBefore;

    /** Whether a message is without a reply yet. */
    boolean asked;

    Contact(InetSocketAddress address) {
        this.text = address.getHostString() + ":" + address.getPort();
    }

    /** Records an answer, with a time of the caller's choice. */
    void answered(ClusterMember from, long when) {
        answered = from;
        answeredAt = when;
        failures = 0;
        failure = null;
        if (!causes.isEmpty()) {
            causes.clear();
            log.info("the node at {} is reached", text);
        }
    }

    /** Returns the node that answered the last message; null after a failure. */
    @Nullable
    ClusterMember answered() {
        return answered;
    }

    long answeredAt() {
        return answeredAt;
    }

    /** Records a failure, followed by a pause: of an interval at first, doubled with each failure up to 5 s. */
    void failed(IreeException cause, long now, long intervalNanos) {
        failure = cause;
        answered = null;
        notBefore = now + Math.min(intervalNanos << Math.min(failures, MOST_DOUBLINGS), LONGEST_PAUSE_NANOS);
        failures++;
    }

    /** Returns whether no pause is left. */
    boolean isDue(long now) {
        return failures == 0 || now - notBefore >= 0;
    }

    /** Logs the last failure. */
    void log() {
        unreached().ifPresent(each -> {
            if (causes.size() < MOST_CAUSES && causes.add(each.cause())) {
                if (each.refuses()) {
                    log.warn("no connection to the node at {}: {}", text, each.cause());
                } else {
                    log.info("no node at {} yet: {}", text, each.cause());
                }
            }
        });
    }

    /** Returns the last failure; empty after an answer. */
    Optional<Unreached> unreached() {
        IreeException cause = failure;
        if (cause == null) {
            return Optional.empty();
        }
        boolean refuses = cause.code() != StatusCode.UNAVAILABLE && cause.code() != StatusCode.DEADLINE_EXCEEDED;
        return Optional.of(
                new Unreached(text, refuses, String.valueOf(cause.getMessage()).replaceAll("\\p{Cntrl}", " ")));
    }
}

package io.github.iree4j.cluster.membership;

import java.util.Locale;
import org.jgroups.logging.Slf4jLogImpl;
import org.slf4j.Logger;

/**
 * The log of JGroups for failed connections on a port without TLS: at most a line in ten seconds, in place of a stack
 * trace for each connection from anywhere.
 */
final class StrangersLog extends Slf4jLogImpl {
    private static final String FROM = "another process";

    private final ConnectionLog connections;

    /**
     * Creates a log.
     *
     * @param log for all other messages
     * @param connections for failed connections
     */
    StrangersLog(Logger log, ConnectionLog connections) {
        super(Locale.ROOT, log);
        this.connections = connections;
    }

    @Override
    public void warn(String message) {
        connections.tell(FROM, message);
    }

    @Override
    public void warn(String format, Object... values) {
        connections.tell(FROM, format.formatted(values));
    }

    @Override
    public void warn(String message, Throwable cause) {
        connections.tell(FROM, cause.getMessage() == null ? message : cause.getMessage());
    }

    @Override
    public void error(String message) {
        warn(message);
    }

    @Override
    public void error(String format, Object... values) {
        warn(format, values);
    }

    @Override
    public void error(String message, Throwable cause) {
        warn(message, cause);
    }
}

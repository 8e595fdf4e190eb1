package io.github.iree4j.cluster.membership;

import java.util.Locale;
import org.jgroups.logging.Slf4jLogImpl;
import org.slf4j.Logger;

/**
 * Where JGroups says of a port without TLS that a connection failed: a line in ten seconds at most, in place of a stack trace for each connection of
 * anyone who reaches the port.
 */
final class StrangersLog extends Slf4jLogImpl {
    private static final String FROM = "another process";

    private final ConnectionLog connections;

    /**
     * Creates it.
     *
     * @param log for all else
     * @param connections for connections that fail
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

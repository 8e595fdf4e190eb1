package io.github.iree4j.spring.autoconfigure.serving;

import io.grpc.ServerBuilder;
import java.util.concurrent.TimeUnit;
import org.springframework.core.env.Environment;

/**
 * The limits of connections of a gRPC server on a network.
 *
 * @param calls maximum number of open calls on a connection, including calls with an unread answer; advertised to
 *     clients, and enforced by the transport
 */
record GrpcConnectionLimits(int calls) {

    /** Number of calls that a client may reset within {@code RESETS_SECONDS} before the connection is closed. */
    static final int RESETS = 1000;

    static final int RESETS_SECONDS = 10;

    /** Maximum time of unread bytes, in milliseconds, before the kernel closes the connection. */
    static final int UNREAD_MILLIS = 30_000;

    /** The denominator of the share of a connection in the calls of all clients: a few connections must not hold all. */
    private static final int CONNECTION_SHARE = 8;

    private static final String KEEPALIVE = "spring.grpc.server.keepalive.";
    private static final long SILENT_SECONDS = 20;
    private static final long ANSWER_SECONDS = 10;

    static GrpcConnectionLimits of(IreeServingProperties properties) {
        return new GrpcConnectionLimits(Math.max(1, properties.grpc().maxCalls() / CONNECTION_SHARE));
    }

    /** Closes connections whose clients are gone or do not read, unless Boot's properties set the times. */
    void keepAlive(ServerBuilder<?> builder, Environment environment) {
        if (!environment.containsProperty(KEEPALIVE + "time")) {
            builder.keepAliveTime(SILENT_SECONDS, TimeUnit.SECONDS);
        }
        if (!environment.containsProperty(KEEPALIVE + "timeout")) {
            builder.keepAliveTimeout(ANSWER_SECONDS, TimeUnit.SECONDS);
        }
    }
}

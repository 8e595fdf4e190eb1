package io.github.iree4j.spring.autoconfigure.serving;

import io.grpc.ServerBuilder;
import java.util.concurrent.TimeUnit;
import org.springframework.core.env.Environment;

/**
 * The limits of connections of a gRPC server on a network.
 *
 * @param calls how many open calls clients are told to have at most on a connection
 */
record GrpcConnectionLimits(int calls) {

    /** How many calls a client may reset in so many seconds before its connection is closed. */
    static final int RESETS = 1000;

    static final int RESETS_SECONDS = 10;

    /** How long bytes may remain unread, milliseconds, before the kernel closes the connection. */
    static final int UNREAD_MILLIS = 30_000;

    private static final String KEEPALIVE = "spring.grpc.server.keepalive.";
    private static final long SILENT_SECONDS = 20;
    private static final long ANSWER_SECONDS = 10;

    static GrpcConnectionLimits of(IreeServingProperties properties) {
        return new GrpcConnectionLimits(properties.grpc().maxCalls() / 4);
    }

    /** Closes connections whose clients are gone or do not read, unless Boot's properties say when. */
    void keepAlive(ServerBuilder<?> builder, Environment environment) {
        if (!environment.containsProperty(KEEPALIVE + "time")) {
            builder.keepAliveTime(SILENT_SECONDS, TimeUnit.SECONDS);
        }
        if (!environment.containsProperty(KEEPALIVE + "timeout")) {
            builder.keepAliveTimeout(ANSWER_SECONDS, TimeUnit.SECONDS);
        }
    }
}

package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.http.BodyLimits;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.logging.Filter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Thins the messages of gRPC's transport about clients: one, mostly with a stack trace, for each connection that does
 * not speak the protocol, each request without a header, each message that is too large, each call beyond a limit, and
 * each answer whose client has gone. Remaining is at most one line without a trace every 10 seconds for each logger,
 * with the number of messages left out. Messages below INFO pass unchanged, and so do all messages where the logger's
 * level is lower than INFO.
 */
final class GrpcTransportLog implements Filter {

    private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Maximum length of a cause, with text sent by the client. */
    private static final int MAX_CAUSE = 300;

    /** Prefixes of the transport sharing Netty with the application, and of the shaded transport. */
    private static final List<String> PREFIXES = List.of("", "io.grpc.netty.shaded.");

    private static final List<String> NAMES = List.of(
            "io.grpc.netty.NettyServerHandler",
            "io.grpc.netty.NettyServerStream",
            "io.grpc.netty.NettyServerTransport.connections");

    /** The loggers, referenced here because the log manager forgets unreferenced loggers. */
    private static final List<Logger> LOGGERS = PREFIXES.stream()
            .flatMap(prefix -> NAMES.stream().map(name -> Logger.getLogger(prefix + name)))
            .toList();

    private final LongSupplier clock;
    private final BooleanSupplier detailed;
    private long last; // guarded by this, as are the next fields
    private boolean any;
    private long left;

    /**
     * Creates the filter of a logger.
     *
     * @param clock nanoseconds
     * @param detailed whether someone asked for all messages
     */
    GrpcTransportLog(LongSupplier clock, BooleanSupplier detailed) {
        this.clock = clock;
        this.detailed = detailed;
    }

    /**
     * Installs filters on the loggers of the transport that have no filter, for the life of the process. Each logger
     * has its own filter: a flood of connections without a protocol does not hide messages that are too large.
     */
    static void install() {
        for (Logger each : LOGGERS) {
            if (each.getFilter() == null) {
                each.setFilter(new GrpcTransportLog(System::nanoTime, () -> each.isLoggable(Level.FINE)));
            }
        }
    }

    @Override
    public boolean isLoggable(LogRecord entry) {
        if (entry.getLevel().intValue() < Level.INFO.intValue() || detailed.getAsBoolean()) {
            return true;
        }
        long leftOut;
        synchronized (this) {
            long now = clock.getAsLong();
            if (any && now - last < EVERY_NANOS) {
                left++;
                return false;
            }
            any = true;
            last = now;
            leftOut = left;
            left = 0;
        }
        entry.setMessage(text(entry.getMessage(), entry.getThrown(), leftOut));
        entry.setThrown(null);
        entry.setParameters(null);
        return true;
    }

    private static String text(@Nullable String message, @Nullable Throwable thrown, long leftOut) {
        String text = message + (thrown == null ? "" : ": " + cause(thrown));
        return leftOut == 0 ? text : text + " (and %d such messages since the last one)".formatted(leftOut);
    }

    /** Returns the text of a failure: on one line, whatever the client has sent. */
    private static String cause(Throwable thrown) {
        String whole = thrown.getMessage() == null ? thrown.toString() : thrown.getMessage();
        String cause = (whole.length() <= MAX_CAUSE ? whole : whole.substring(0, MAX_CAUSE) + "...")
                .strip()
                .replaceAll("\\p{Cntrl}", "?");
        return cause.contains("message exceeds maximum size") // the transport does not know the property
                ? cause + "; send less, or raise '%s'".formatted(BodyLimits.SIZE)
                : cause;
    }
}

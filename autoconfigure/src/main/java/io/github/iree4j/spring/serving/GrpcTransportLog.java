package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.http.BodyLimits;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.logging.Filter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Thins the warnings of gRPC's transport about clients: a warning with a stack trace for each message that is too
 * large, each call beyond a connection's limit, and each answer whose client has gone. Remaining is at most one line
 * without a trace every 10 seconds, with the number of warnings left out. Messages of lower levels pass unchanged.
 */
final class GrpcTransportLog implements Filter {

    private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Prefixes of the transport sharing Netty with the application, and of the shaded transport. */
    private static final List<String> PREFIXES = List.of("", "io.grpc.netty.shaded.");

    private static final List<String> NAMES =
            List.of("io.grpc.netty.NettyServerHandler", "io.grpc.netty.NettyServerStream");

    /** The loggers, referenced here because the log manager forgets unreferenced loggers. */
    private static final List<Logger> LOGGERS = PREFIXES.stream()
            .flatMap(prefix -> NAMES.stream().map(name -> Logger.getLogger(prefix + name)))
            .toList();

    private final LongSupplier clock;
    private long last; // guarded by this, as are the next fields
    private boolean any;
    private long left;

    /**
     * Creates the filter.
     *
     * @param clock nanoseconds
     */
    GrpcTransportLog(LongSupplier clock) {
        this.clock = clock;
    }

    /** Installs a filter on the loggers of the transport that have no filter, for the life of the process. */
    static void install() {
        Filter filter = new GrpcTransportLog(System::nanoTime);
        for (Logger each : LOGGERS) {
            if (each.getFilter() == null) {
                each.setFilter(filter);
            }
        }
    }

    @Override
    public boolean isLoggable(LogRecord entry) {
        if (entry.getLevel().intValue() < Level.WARNING.intValue() || entry.getThrown() == null) {
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

    private static String text(@Nullable String message, Throwable thrown, long leftOut) {
        String cause = String.valueOf(thrown.getMessage());
        String text = message + ": " + cause;
        if (cause.contains("message exceeds maximum size")) { // the transport does not know the property
            text += "; send less, or raise '%s'".formatted(BodyLimits.SIZE);
        }
        return leftOut == 0 ? text : text + " (and %d such warnings since the last one)".formatted(leftOut);
    }
}

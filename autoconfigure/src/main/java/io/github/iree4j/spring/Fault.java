package io.github.iree4j.spring;

import io.github.iree4j.hal.pool.NeverFits;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Whose fault it is that a call failed, by its status. What counts failures against a model, such as a circuit breaker, counts {@link #MODEL}
 * and {@link #DEVICE} only: what one caller does must not take the model from others.
 */
public enum Fault {
    /** The caller asked for something that does not exist or fit, gave up, or set a deadline below the limit. */
    CALLER,
    /** Configuration or files: the operator can correct it. */
    OPERATOR,
    /** The program, including its functions in Java, did not do what it should within the limit. */
    MODEL,
    /** A device, or the node that has it, is lost. */
    DEVICE,
    /** The status does not tell. */
    UNKNOWN;

    /** Whether the model or its device failed. */
    public boolean isOfModelOrDevice() {
        return this == MODEL || this == DEVICE;
    }

    /**
     * Returns whose fault a failure is.
     *
     * @param failure what the call failed with
     * @param own the deadline that its caller set, from the start of the call; null for none
     * @param limit the operator's limit of calls of the program; null for none
     * @param took how long the call took: a deadline that comes before the caller's is not the caller's
     * @return the fault; {@link #UNKNOWN} for what is no {@link IreeException}
     */
    public static Fault of(Throwable failure, @Nullable Duration own, @Nullable Duration limit, Duration took) {
        return switch (failure) {
            case IreeException e ->
                switch (e.code()) {
                    case INVALID_ARGUMENT, OUT_OF_RANGE, NOT_FOUND, ALREADY_EXISTS, UNAUTHENTICATED, CANCELLED ->
                        CALLER;
                    case UNIMPLEMENTED, INCOMPATIBLE, DATA_LOSS -> OPERATOR;
                    case INTERNAL -> MODEL;
                    case DEADLINE_EXCEEDED -> isHaste(own, limit, took) ? CALLER : MODEL;
                    case ABORTED, UNAVAILABLE -> DEVICE;
                    case RESOURCE_EXHAUSTED -> e.detail(NeverFits.class) == null ? UNKNOWN : CALLER;
                    // What is closed is an input or the program; what may not be used is the caller's or the program's.
                    case UNKNOWN, PERMISSION_DENIED, FAILED_PRECONDITION, OK, DEFERRED -> UNKNOWN;
                };
            case CancellationException _ -> CALLER;
            default -> UNKNOWN;
        };
    }

    private static boolean isHaste(@Nullable Duration own, @Nullable Duration limit, Duration took) {
        return own != null && (limit == null || own.compareTo(limit) < 0) && took.compareTo(own) >= 0;
    }
}

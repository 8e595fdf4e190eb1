package io.github.iree4j.spring;

import io.github.iree4j.hal.pool.NeverFits;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.KernelFault;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The party responsible for a failed call, by status. Counters of failures against a model, such as circuit breakers,
 * count {@link #MODEL} and {@link #DEVICE} only: one caller's actions must not take the model from other callers.
 */
public enum Fault {
    /** The caller requested something nonexistent or unfitting, gave up, or set a deadline below the limit. */
    CALLER,
    /** Configuration or files: the operator can correct the cause. */
    OPERATOR,
    /** The program, including Java functions, did not do its work within the limit. */
    MODEL,
    /** A device, or the node of the device, is lost. */
    DEVICE,
    /** The status does not identify the party. */
    UNKNOWN;

    /** Returns whether the model or the model's device failed. */
    public boolean isOfModelOrDevice() {
        return this == MODEL || this == DEVICE;
    }

    /**
     * Returns the party responsible for a failure.
     *
     * @param failure the failure of the call
     * @param own the deadline set by the caller, from the start of the call; null for none
     * @param limit the operator's limit of calls of the program; null for none
     * @param took the duration of the call: a deadline before the caller's is not the caller's
     * @return the fault; {@link #UNKNOWN} for failures other than {@link IreeException}
     */
    public static Fault of(Throwable failure, @Nullable Duration own, @Nullable Duration limit, Duration took) {
        return switch (failure) {
            case IreeException e ->
                switch (e.code()) {
                    case INVALID_ARGUMENT, OUT_OF_RANGE, NOT_FOUND, ALREADY_EXISTS, UNAUTHENTICATED, CANCELLED ->
                        CALLER;
                    case UNIMPLEMENTED, INCOMPATIBLE, DATA_LOSS -> OPERATOR;
                    case INTERNAL -> e.detail(KernelFault.class) == null ? MODEL : UNKNOWN;
                    case DEADLINE_EXCEEDED -> isHaste(own, limit, took) ? CALLER : ofFileOr(MODEL, e);
                    case ABORTED, UNAVAILABLE -> ofFileOr(DEVICE, e);
                    case RESOURCE_EXHAUSTED -> e.detail(NeverFits.class) == null ? UNKNOWN : CALLER;
                    // The closed object may be an input or the program; the forbidden use may be the caller's or the
                    // program's.
                    case UNKNOWN, PERMISSION_DENIED, FAILED_PRECONDITION, OK, DEFERRED -> UNKNOWN;
                };
            case CancellationException _ -> CALLER;
            default -> UNKNOWN;
        };
    }

    /** The operator for a file that was changed or touched, or whose file system gives no answer. */
    private static Fault ofFileOr(Fault other, IreeException failure) {
        return failure.detail(FileFault.class) == null ? other : OPERATOR;
    }

    private static boolean isHaste(@Nullable Duration own, @Nullable Duration limit, Duration took) {
        return own != null && (limit == null || own.compareTo(limit) < 0) && took.compareTo(own) >= 0;
    }
}

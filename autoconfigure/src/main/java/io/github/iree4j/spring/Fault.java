package io.github.iree4j.spring;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.status.CallTimeoutException;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.InvalidInputException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.KernelFault;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The party responsible for a failed call, by status. Counters of failures against a model, such as circuit breakers,
 * count {@link #MODEL} and {@link #DEVICE} only: one caller's actions must not take the model from other callers.
 */
@NotForApplications
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
     * @param own the deadline of the call, the earlier of the caller's and the limit's; null for none
     * @param limit the operator's limit of calls of the program; null for none
     * @return the fault; {@link #UNKNOWN} for failures other than {@link IreeException}
     */
    public static Fault of(Throwable failure, @Nullable Deadline own, @Nullable Duration limit) {
        return switch (failure) {
            case DeviceLostException e -> ofFileOr(DEVICE, e);
            case InvalidInputException _ -> CALLER;
            case CallTimeoutException e -> isHaste(own, limit) ? CALLER : ofFileOr(MODEL, e);
            case IreeException e -> ofCode(e);
            case CancellationException _ -> CALLER;
            default -> UNKNOWN;
        };
    }

    private static Fault ofCode(IreeException failure) {
        return switch (failure.code()) {
            case INVALID_ARGUMENT, OUT_OF_RANGE, NOT_FOUND, ALREADY_EXISTS, UNAUTHENTICATED, CANCELLED -> CALLER;
            case UNIMPLEMENTED, INCOMPATIBLE, DATA_LOSS -> OPERATOR;
            case INTERNAL -> failure.detail(KernelFault.class).isEmpty() ? MODEL : UNKNOWN;
            case ABORTED, UNAVAILABLE -> ofFileOr(DEVICE, failure);
            // The closed object may be an input or the program; the forbidden use may be the caller's or the
            // program's; others may hold the memory.
            case UNKNOWN, PERMISSION_DENIED, FAILED_PRECONDITION, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, OK, DEFERRED ->
                UNKNOWN;
        };
    }

    /** The operator for a file that was changed or touched, or whose file system gives no answer. */
    private static Fault ofFileOr(Fault other, IreeException failure) {
        return failure.detail(FileFault.class).isEmpty() ? other : OPERATOR;
    }

    /**
     * Returns whether the deadline has passed and is the caller's. A deadline of the limit has the duration of the limit. A
     * timeout before the deadline has another cause.
     */
    private static boolean isHaste(@Nullable Deadline own, @Nullable Duration limit) {
        return own != null && !own.timeout().equals(limit) && own.hasPassed();
    }
}

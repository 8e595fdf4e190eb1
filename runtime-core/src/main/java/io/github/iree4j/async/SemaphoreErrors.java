package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The exceptions of a timeline. */
final class SemaphoreErrors {
    private SemaphoreErrors() {}

    /** Returns the exception of a refused signal. */
    static IreeException refusal(long at, long next, @Nullable IreeException failed) {
        return failed != null
                ? failed.during("signal of a failed semaphore to " + next)
                : IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "semaphore value must increase: " + at + " -> " + next + "; each value is signalled once");
    }

    /** Returns the exception of a signaller of a value that accepts no further signals. */
    static IreeException tooLateToJoin(long at, long next) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "semaphore value " + next + " takes no further signal: it is "
                        + (next <= at ? "reached (at " + at + ")" : "promised or above the largest")
                        + "; set the number of signals before the first is submitted");
    }

    /** Returns the exception of a waiter remaining when the last reference was released. */
    static IreeException abandoned(long minimum) {
        return IreeException.of(
                StatusCode.CANCELLED,
                "semaphore was closed before it reached " + minimum + "; its signaller must keep it open");
    }

    static IreeException outOfTime(long at, long minimum, long timeoutNanos) {
        return IreeException.of(
                StatusCode.DEADLINE_EXCEEDED,
                "semaphore is at " + at + " and did not reach " + minimum + " within "
                        + Duration.ofNanos(timeoutNanos));
    }

    static IreeException interrupted(long minimum) {
        return IreeException.of(StatusCode.CANCELLED, "interrupted while waiting for semaphore value " + minimum);
    }

    /** Returns the same failure for another thread to throw: a new stack trace, with the original as the cause. */
    static IreeException rethrown(IreeException failure) {
        return IreeException.of(failure.code(), failure.getMessage(), failure);
    }
}

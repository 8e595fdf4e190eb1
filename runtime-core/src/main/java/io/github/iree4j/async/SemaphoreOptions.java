package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options for creating a timeline.
 *
 * @param initialValue the first value, 0 to {@link TimelineSemaphore#MAXIMUM_VALUE}
 * @param scope the queues that may use the timeline
 * @param historyCapacity how many of the last signals keep their own frontier, 1 to {@value #MAXIMUM_HISTORY}; a waiter
 *     for an older signal gets the frontier of the oldest kept signal
 * @param helper provides work for waiting platform threads; null for none
 */
@NotForApplications
public record SemaphoreOptions(
        long initialValue,
        SemaphoreScope scope,
        int historyCapacity,
        @Nullable WaitHelper helper) {
    /** The default number of signals with their own frontier. */
    public static final int DEFAULT_HISTORY = 16;

    /** The largest history. */
    public static final int MAXIMUM_HISTORY = 4096;

    /** Options starting at 0, usable in all of this process, with the default history. */
    public static final SemaphoreOptions DEFAULTS =
            new SemaphoreOptions(0, SemaphoreScope.PROCESS_LOCAL, DEFAULT_HISTORY, null);

    /** Checks the ranges. */
    public SemaphoreOptions {
        Objects.requireNonNull(scope, "scope");
        if (initialValue < 0 || initialValue > TimelineSemaphore.MAXIMUM_VALUE) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "initial semaphore value " + initialValue + " is not within [0, " + TimelineSemaphore.MAXIMUM_VALUE
                            + "]");
        }
        if (historyCapacity < 1 || historyCapacity > MAXIMUM_HISTORY) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "semaphore history of " + historyCapacity + " signals is not within [1, " + MAXIMUM_HISTORY + "]");
        }
    }

    /**
     * Returns these options with another initial value.
     *
     * @param value the first value of the timeline
     * @return the options
     */
    public SemaphoreOptions withInitialValue(long value) {
        return value == initialValue ? this : new SemaphoreOptions(value, scope, historyCapacity, helper);
    }

    /**
     * Returns these options with another scope.
     *
     * @param wanted the queues that may use the timeline
     * @return the options
     */
    public SemaphoreOptions withScope(SemaphoreScope wanted) {
        return wanted == scope ? this : new SemaphoreOptions(initialValue, wanted, historyCapacity, helper);
    }

    /**
     * Returns these options with another history capacity.
     *
     * @param capacity how many of the last signals keep their own frontier
     * @return the options
     */
    public SemaphoreOptions withHistoryCapacity(int capacity) {
        return capacity == historyCapacity ? this : new SemaphoreOptions(initialValue, scope, capacity, helper);
    }

    /**
     * Returns these options with a helper.
     *
     * @param wanted called before a platform thread sleeps; null for none
     * @return the options
     */
    public SemaphoreOptions withHelper(@Nullable WaitHelper wanted) {
        return new SemaphoreOptions(initialValue, scope, historyCapacity, wanted);
    }
}

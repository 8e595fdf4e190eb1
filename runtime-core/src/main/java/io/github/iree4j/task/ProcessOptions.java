package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * The options of a process.
 *
 * @param name the name, for diagnostics: thread dumps, failures
 * @param suspendCount events to wait for before the first drain
 * @param wakeBudget number of workers to wake, at least 1; a hint changeable by drains
 * @param placement list or slot
 */
@NotForApplications
public record ProcessOptions(String name, int suspendCount, int wakeBudget, Placement placement) {

    static final int MAX_SUSPENDS = (1 << 22) - 1;

    /** Checks ranges. */
    public ProcessOptions {
        checkRange("suspend count", suspendCount, 0, MAX_SUSPENDS);
        checkRange("wake budget", wakeBudget, 1, Integer.MAX_VALUE);
    }

    /**
     * Returns the options of a runnable process for a single worker.
     *
     * @param name the name, for diagnostics
     * @return the options
     */
    public static ProcessOptions named(String name) {
        return new ProcessOptions(name, 0, 1, Placement.BY_BUDGET);
    }

    /**
     * Returns these options with a suspend count.
     *
     * @param count events to wait for
     * @return the options
     */
    public ProcessOptions suspended(int count) {
        return new ProcessOptions(name, count, wakeBudget, placement);
    }

    /**
     * Returns these options with a wake budget.
     *
     * @param workers number of workers to wake
     * @return the options
     */
    public ProcessOptions wanting(int workers) {
        return new ProcessOptions(name, suspendCount, workers, placement);
    }

    /**
     * Returns these options with a placement.
     *
     * @param where list or slot
     * @return the options
     */
    public ProcessOptions placed(Placement where) {
        return new ProcessOptions(name, suspendCount, wakeBudget, where);
    }

    static void checkRange(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%s of %d is outside %d to %d".formatted(what, value, least, most));
        }
    }
}

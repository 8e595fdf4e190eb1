package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * The options of a process.
 *
 * @param name the name, for diagnostics: thread dumps, failures
 * @param suspendCount events to wait for before the first drain
 * @param wakeBudget how many workers to wake, at least 1; a hint that drains may change
 * @param placement list or slot
 * @param priority order of slots under {@link ScanPolicy#byPriority()}; higher first
 * @param workerStateWords 64-bit words that each worker keeps for the process, see {@link WorkerContext#state()}
 * @param scope the scope that counts the process as pending and records its failure, or null
 */
public record ProcessOptions(
        String name,
        int suspendCount,
        int wakeBudget,
        Placement placement,
        int priority,
        int workerStateWords,
        @Nullable TaskScope scope) {

    static final int MAX_SUSPENDS = (1 << 22) - 1;
    static final int MAX_STATE_WORDS = 1 << 20;

    /** Checks ranges. */
    public ProcessOptions {
        checkRange("suspend count", suspendCount, 0, MAX_SUSPENDS);
        checkRange("wake budget", wakeBudget, 1, Integer.MAX_VALUE);
        checkRange("worker state words", workerStateWords, 0, MAX_STATE_WORDS);
    }

    /**
     * Returns the options of a runnable process that wants one worker.
     *
     * @param name the name, for diagnostics
     * @return the options
     */
    public static ProcessOptions named(String name) {
        return new ProcessOptions(name, 0, 1, Placement.BY_BUDGET, 0, 0, null);
    }

    /**
     * Returns these options with a suspend count.
     *
     * @param count events to wait for
     * @return the options
     */
    public ProcessOptions suspended(int count) {
        return new ProcessOptions(name, count, wakeBudget, placement, priority, workerStateWords, scope);
    }

    /**
     * Returns these options with a wake budget.
     *
     * @param workers how many workers to wake
     * @return the options
     */
    public ProcessOptions wanting(int workers) {
        return new ProcessOptions(name, suspendCount, workers, placement, priority, workerStateWords, scope);
    }

    /**
     * Returns these options with a placement.
     *
     * @param where list or slot
     * @return the options
     */
    public ProcessOptions placed(Placement where) {
        return new ProcessOptions(name, suspendCount, wakeBudget, where, priority, workerStateWords, scope);
    }

    /**
     * Returns these options with a priority.
     *
     * @param value higher comes first
     * @return the options
     */
    public ProcessOptions prioritized(int value) {
        return new ProcessOptions(name, suspendCount, wakeBudget, placement, value, workerStateWords, scope);
    }

    /**
     * Returns these options with state for each worker.
     *
     * @param words the number of 64-bit words
     * @return the options
     */
    public ProcessOptions workerState(int words) {
        return new ProcessOptions(name, suspendCount, wakeBudget, placement, priority, words, scope);
    }

    /**
     * Returns these options with a scope.
     *
     * @param pending the scope to count in
     * @return the options
     */
    public ProcessOptions within(TaskScope pending) {
        return new ProcessOptions(name, suspendCount, wakeBudget, placement, priority, workerStateWords, pending);
    }

    static void checkRange(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT, "%s of %d is outside %d to %d".formatted(what, value, least, most));
        }
    }
}

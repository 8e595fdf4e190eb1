package io.github.iree4j.task;

import java.util.List;

/**
 * The order in which workers scan compute slots. A hint: slots that a policy leaves out are scanned last.
 *
 * <p>When a process enters or leaves a slot or changes its budget, the thread that causes this computes the order, into a table that
 * workers read. Called by one thread at a time.
 */
public interface ScanPolicy {
    /** The capacity of a table. */
    int MAX_ENTRIES = 256;

    /**
     * Returns the policy that scans all slots in turn, each worker from a different start. Needs no table.
     *
     * @return the default
     */
    static ScanPolicy roundRobin() {
        return ScanPolicies.ROUND_ROBIN;
    }

    /**
     * Returns the policy that always begins with the processes of the highest priority.
     *
     * @return by {@link ProcessOptions#priority()}
     */
    static ScanPolicy byPriority() {
        return ScanPolicies.BY_PRIORITY;
    }

    /**
     * Returns the policy that visits processes in proportion to their wake budgets.
     *
     * @return by {@link TaskProcess#wakeBudget()}
     */
    static ScanPolicy byBudget() {
        return ScanPolicies.BY_BUDGET;
    }

    /**
     * Writes the indices of processes in scan order; an index may occur several times.
     *
     * @param processes the processes in slots, in no particular order; valid only during the call
     * @param order receives indices into {@code processes}, at most {@link #MAX_ENTRIES}
     * @return the number of entries written
     */
    int order(List<TaskProcess> processes, int[] order);

    /**
     * Returns whether every scan begins with the first entry rather than where the last one ended.
     *
     * @return true for an order of precedence
     */
    default boolean beginsAtFirst() {
        return false;
    }
}

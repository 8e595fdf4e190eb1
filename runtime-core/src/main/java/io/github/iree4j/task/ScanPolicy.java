package io.github.iree4j.task;

import java.util.List;

/**
 * In which order workers look at compute slots. A hint: what a policy leaves out is looked at last.
 *
 * <p>The order is worked out when a process enters or leaves a slot or changes its budget, by the thread that does it, into a table that workers read. Called by
 * one thread at a time.
 */
public interface ScanPolicy {
    /** How many entries a table has room for. */
    int MAX_ENTRIES = 256;

    /**
     * Returns the policy that looks at all slots in turn, each worker beginning elsewhere. Needs no table.
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
     * Puts indices of processes in the order they are to be looked at; an index may come several times.
     *
     * @param processes what is in slots, in no particular order; to be read only during the call
     * @param order where indices into {@code processes} go, {@link #MAX_ENTRIES} of them
     * @return how many entries were written
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

package io.github.iree4j.task;

import java.util.List;

/** The built-in policies. */
final class ScanPolicies {
    private ScanPolicies() {}

    static final ScanPolicy ROUND_ROBIN = (processes, order) -> 0;

    static final ScanPolicy BY_PRIORITY = new ScanPolicy() {
        @Override
        public int order(List<TaskProcess> processes, int[] order) {
            int count = processes.size();
            for (int i = 0; i < count; i++) { // insertion sort: few, and nearly in order already
                int at = i;
                int priority = processes.get(i).options().priority();
                while (at > 0 && processes.get(order[at - 1]).options().priority() < priority) {
                    order[at] = order[at - 1];
                    at--;
                }
                order[at] = i;
            }
            return count;
        }

        @Override
        public boolean beginsAtFirst() {
            return true;
        }
    };

    /** Interleaves, so that a process of budget 8 comes at every second visit rather than eight times in a row. */
    static final ScanPolicy BY_BUDGET = (processes, order) -> {
        int count = processes.size();
        long total = 0;
        for (int i = 0; i < count; i++) {
            total += processes.get(i).wakeBudget();
        }
        int entries = (int) Math.max(count, Math.min(total, ScanPolicy.MAX_ENTRIES));
        int written = 0;
        for (int turn = 0; written < entries; turn++) {
            for (int i = 0; i < count && written < entries; i++) {
                long share = Math.max(1, processes.get(i).wakeBudget() * (long) entries / Math.max(1, total));
                // process i is due if its share, spread evenly over 'entries' turns, has a visit in this turn
                if ((turn + 1) * share / entries > turn * share / entries || turn == 0) {
                    order[written++] = i;
                }
            }
        }
        return written;
    };
}

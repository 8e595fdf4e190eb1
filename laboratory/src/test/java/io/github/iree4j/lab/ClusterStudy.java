package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.check;

import io.github.iree4j.frontier.Frontier;
import java.util.ArrayList;
import java.util.List;

/**
 * The cost of frontiers for a node that submits work to many others at once: the size with and without a channel for
 * collectives, the outcome of waits, and the frames of the protocol between nodes. The scheduler and the frontiers
 * match real devices, on virtual hardware.
 *
 * @param rows the outcomes
 */
public record ClusterStudy(List<Row> rows) {
    /** The most nodes. */
    public static final int MAXIMUM_NODES = 4096;

    private static final int STEPS = 4;

    /** Copies the rows. */
    public ClusterStudy {
        rows = List.copyOf(rows);
    }

    /**
     * The outcome of a kind of work.
     *
     * @param work the kind of work
     * @param nodes number of nodes, each with a single queue
     * @param capacity how many entries a frontier may have
     * @param operations number of operations; a collective counts once for each participant
     * @param medianEntries entries of the frontiers of their signals, the median
     * @param maximumEntries the most entries
     * @param tainted signals with an incomplete frontier
     * @param deviceWaits waits performed by devices
     * @param told waits with a notice from node to node in the protocol; a command has at most 255 of these
     * @param dropped waits implied by the order of a queue, its frontier or another wait, or already over
     * @param held waits with an operation held back by the submitting host
     * @param ticks the end of the last operation, with a tick for each
     * @param violations the broken rules, empty unless there is a bug: everything ends, nothing starts early, no
     * frontier claims unfinished work, and an incomplete frontier is tainted
     */
    public record Row(
            String work,
            int nodes,
            int capacity,
            int operations,
            int medianEntries,
            int maximumEntries,
            int tainted,
            long deviceWaits,
            long told,
            long dropped,
            long held,
            long ticks,
            List<String> violations) {
        /**
         * Returns how many frames an operation takes on remote devices: COMMAND, ACCEPTED and COMPLETED, and for each
         * wait with a notice from node to node SUBSCRIBE and ADVANCE.
         *
         * @return frames for each operation, on average
         */
        public double messages() {
            return 3 + 2.0 * told / operations;
        }
    }

    /**
     * Runs all kinds of work.
     *
     * @param nodes number of nodes, 8 to {@value #MAXIMUM_NODES}; groups of eight leave the rest idle
     * @param capacity how many entries a frontier may have
     * @return the outcomes
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT when a number is out of range
     */
    public static ClusterStudy run(int nodes, int capacity) {
        check("number of nodes", nodes, 8, MAXIMUM_NODES);
        check("capacity of frontiers", capacity, 1, Frontier.MAXIMUM_CAPACITY);
        int whole = nodes - nodes % 8;
        List<Row> rows = new ArrayList<>();
        for (ClusterWork each : List.of(
                ClusterWork.allReduce(nodes, STEPS, true),
                ClusterWork.allReduce(nodes, STEPS, false),
                ClusterWork.tensorParallel(whole, 2, true),
                ClusterWork.tensorParallel(whole, 2, false),
                ClusterWork.ring(nodes, 2),
                ClusterWork.hub(nodes, 2),
                ClusterWork.random(nodes, STEPS, 1))) {
            rows.add(ClusterRun.run(each, capacity));
        }
        return new ClusterStudy(rows);
    }

    /**
     * Returns the outcomes as a table in Markdown.
     *
     * @return lines, each with its end
     */
    public String toTable() {
        StringBuilder table = new StringBuilder();
        table.append(
                "| work | operations | entries, median | entries, most | tainted | waits of devices | dropped | held back"
                        + " | frames each | ticks |\n");
        table.append("|---|---|---|---|---|---|---|---|---|---|\n");
        for (Row row : rows) {
            table.append("| %s | %d | %d | %d | %d %% | %d | %d | %d | %.1f | %d |\n"
                    .formatted(
                            row.work,
                            row.operations,
                            row.medianEntries,
                            row.maximumEntries,
                            Math.round(100.0 * row.tainted / row.operations),
                            row.deviceWaits,
                            row.dropped,
                            row.held,
                            row.messages(),
                            row.ticks));
        }
        return table.toString();
    }
}

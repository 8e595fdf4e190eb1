package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.check;

import io.github.iree4j.frontier.Frontier;
import java.util.ArrayList;
import java.util.List;

/**
 * What frontiers cost a node that submits work to many others at once: their size with and without a channel for collectives, what becomes of
 * waits, and what the protocol between nodes would send. The scheduler and the frontiers are those of real devices, on virtual hardware.
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
     * What became of one kind of work.
     *
     * @param work what it was
     * @param nodes number of nodes, each with one queue
     * @param capacity how many entries a frontier may have
     * @param operations number of operations; a collective is one for each participant
     * @param medianEntries entries of the frontiers of their signals, the median
     * @param maximumEntries the most entries
     * @param tainted signals whose frontier does not say all
     * @param deviceWaits waits that devices perform
     * @param told those for which the protocol between nodes has one node tell another; a command has at most 255 of them
     * @param dropped waits that the order of a queue, its frontier or another wait implies, or that were over
     * @param held waits for which the submitting host held an operation back
     * @param ticks when the last operation had ended, where each takes one tick
     * @param violations what did not hold, empty unless there is a bug: everything ends, nothing starts early, no frontier claims what has not ended, and
     *     one that is not whole is tainted
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
         * Returns how many frames an operation takes on remote devices: COMMAND, ACCEPTED and COMPLETED, and for each wait of which one node
         * tells another SUBSCRIBE and ADVANCE.
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

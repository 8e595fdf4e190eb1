package io.github.iree4j.tools;

import io.github.iree4j.RuntimeBuilder;
import io.github.iree4j.task.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** The placement of workers, with the flags of IREE's runners; see {@code iree4j topology}. */
final class TopologyFlags {
    private static final int MOST_GROUPS = 64; // the default

    @Option(names = "--task_topology_group_count", paramLabel = "N", description = "The number of workers, anywhere.")
    private int groups;

    @Option(
            names = "--task_topology_cpu_ids",
            paramLabel = "CPUS",
            description = "A worker on each of these processors, such as 0,2-3. Repeat for more.")
    private List<String> processors = new ArrayList<>();

    @Option(names = "--task_topology_max_group_count", paramLabel = "N", description = "The most workers.")
    private int most = MOST_GROUPS;

    @Option(
            names = "--task_topology_nodes",
            paramLabel = "NODES",
            description = "NUMA nodes of the workers, such as 0,1. Default: all nodes available to the process.")
    private String nodes = "";

    @Option(
            names = "--task_topology_performance_level",
            paramLabel = "any|low|high",
            description = "The cores with workers.")
    private String level = "any";

    @Option(
            names = "--task_topology_distribution",
            paramLabel = "compact|scatter",
            description = "Whether few workers share caches or are apart.")
    private String distribution = "scatter";

    TopologyFlags() {}

    /** Applies the flags not set to the default. */
    void apply(RuntimeBuilder builder) {
        if (groups > 0) {
            builder.topology(Topology.of("workers=" + groups));
        } else if (!processors.isEmpty()) {
            builder.topology(Topology.of("each=" + String.join(",", processors)));
        } else {
            StringBuilder options = new StringBuilder();
            if (most != MOST_GROUPS) {
                options.append(" max=").append(most);
            }
            if (!nodes.isEmpty() && !List.of("current", "numa", "all").contains(nodes)) {
                options.append(" nodes=").append(nodes);
            }
            if (!level.equals("any")) {
                Map<String, String> names = Map.of(
                        "low",
                        "efficiency",
                        "efficiency",
                        "efficiency",
                        "high",
                        "performance",
                        "performance",
                        "performance");
                options.append(" cores=").append(names.getOrDefault(level, level));
            }
            if (!distribution.equals("scatter")) {
                options.append(" distribution=").append(distribution);
            }
            if (!options.isEmpty()) {
                builder.topology(Topology.of(options.toString().strip()));
            }
        }
    }
}

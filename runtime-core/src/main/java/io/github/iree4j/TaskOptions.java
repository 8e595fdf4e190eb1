package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.ScanPolicy;
import io.github.iree4j.task.Topology;
import io.github.iree4j.task.TopologyOptions;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a runtime, which run compiled code of the CPU device and make calls that wait.
 *
 * @param workers how many, 1 to {@value ProcessExecutor#MAX_WORKERS}; 0 for one in each group of the topology
 * @param topology where they are; null to look at the machine and what this process may use of it
 * @param affinity whether each worker stays on the processors of its group; without, the operating system moves them
 * @param scanPolicy in which order workers look at work for several
 */
public record TaskOptions(int workers, @Nullable Topology topology, boolean affinity, ScanPolicy scanPolicy) {
    /** As many workers as the topology has groups, on whatever processor; work for several is looked at in turn. */
    public static final TaskOptions DEFAULTS = new TaskOptions(0, null, false, ScanPolicy.roundRobin());

    /**
     * Checks the number of workers.
     *
     * @param workers how many, 0 for one in each group
     * @param topology where they are, or null
     * @param affinity whether each stays there
     * @param scanPolicy in which order they look at work
     * @throws IreeException INVALID_ARGUMENT when the number is out of range, or larger than the given topology
     */
    public TaskOptions {
        Objects.requireNonNull(scanPolicy, "scanPolicy");
        int most = topology == null
                ? ProcessExecutor.MAX_WORKERS
                : topology.groups().size();
        if (workers < 0 || workers > most) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "'workers' is %d and must be within [0, %d], %s"
                            .formatted(workers, most, topology == null ? "the limit" : "the groups of the topology"));
        }
    }

    /** The topology to use: given, or looked up; of a machine with fewer places than workers, so many anywhere. */
    Topology resolve() {
        Topology given = topology;
        if (given != null) {
            return given;
        }
        Topology found = Topology.detect(TopologyOptions.DEFAULTS.withMaxWorkers(workers));
        return found.groups().size() < workers ? Topology.ofWorkers(workers) : found;
    }
}

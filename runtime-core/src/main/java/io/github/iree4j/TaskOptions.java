package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.Topology;
import io.github.iree4j.task.TopologyOptions;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a runtime, for compiled code of the CPU device and asynchronous calls.
 *
 * @param workers number of workers, 1 to {@value ProcessExecutor#MAX_WORKERS}; 0 for a worker in each group of the
 *     topology
 * @param topology the places of the workers; null to detect the processors available to this process
 * @param affinity whether each worker stays on the processors of its group; otherwise the operating system may move
 *     workers
 */
record TaskOptions(int workers, @Nullable Topology topology, boolean affinity) {
    /** INVALID_ARGUMENT when the number of workers is out of range, or larger than the given topology. */
    TaskOptions {
        int most = topology == null
                ? ProcessExecutor.MAX_WORKERS
                : topology.groups().size();
        if (workers < 0 || workers > most) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'workers' is %d and must be within [0, %d], %s"
                            .formatted(workers, most, topology == null ? "the limit" : "the groups of the topology"));
        }
    }

    /** Returns the topology to use: given or detected; unbound places if the machine has fewer places than workers. */
    Topology resolve() {
        Topology given = topology;
        if (given != null) {
            return given;
        }
        Topology found = Topology.detect(TopologyOptions.DEFAULTS.withMaxWorkers(workers));
        return found.groups().size() < workers ? Topology.ofWorkers(workers) : found;
    }
}

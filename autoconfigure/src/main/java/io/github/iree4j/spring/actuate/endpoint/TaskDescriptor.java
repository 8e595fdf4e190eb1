package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.task.TopologyGroup;
import java.util.List;

/**
 * The workers of the runtime.
 *
 * @param workers number of workers
 * @param sleepingWorkers number of idle workers
 * @param liveProcesses number of live processes: calls that run or wait, and device queues
 * @param affinity whether workers are pinned to their processors
 * @param topology placement of each worker, in the syntax of {@code iree.task.topology}
 * @param notes oddities in the machine's description of its topology
 */
public record TaskDescriptor(
        int workers,
        int sleepingWorkers,
        long liveProcesses,
        boolean affinity,
        List<String> topology,
        List<String> notes) {
    static TaskDescriptor of(IreeRuntime runtime) {
        return new TaskDescriptor(
                runtime.executor().workers(),
                runtime.executor().sleepingWorkers(),
                runtime.executor().liveProcesses(),
                runtime.options().tasks().affinity(),
                runtime.topology().groups().stream()
                        .map(TopologyGroup::toString)
                        .toList(),
                runtime.topology().notes());
    }
}

package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.task.TopologyGroup;
import java.time.Duration;
import java.util.List;

/**
 * The workers of the runtime.
 *
 * @param workers number of workers
 * @param sleepingWorkers number of idle workers
 * @param wakeUp measured time until a sleeping worker runs: shorter work is left to the waiting thread
 * @param liveProcesses number of live processes: running or waiting calls, and device queues
 * @param affinity whether workers are pinned to their processors
 * @param topology placement of each worker, in the syntax of {@code iree.task.topology}
 * @param notes oddities in the machine's description of the topology
 */
public record TaskDescriptor(
        int workers,
        int sleepingWorkers,
        Duration wakeUp,
        long liveProcesses,
        boolean affinity,
        List<String> topology,
        List<String> notes) {
    static TaskDescriptor of(IreeRuntime runtime) {
        return new TaskDescriptor(
                runtime.executor().workers(),
                runtime.executor().sleepingWorkers(),
                Duration.ofNanos(runtime.executor().wakeNanos()),
                runtime.executor().liveProcesses(),
                runtime.options().tasks().affinity(),
                runtime.topology().groups().stream()
                        .map(TopologyGroup::toString)
                        .toList(),
                runtime.topology().notes());
    }
}

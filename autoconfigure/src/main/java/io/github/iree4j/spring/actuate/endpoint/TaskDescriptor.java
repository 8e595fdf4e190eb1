package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.monitor.Workers;
import io.github.iree4j.task.ProcessExecutor;
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
        Workers workers = runtime.monitor().workers();
        ProcessExecutor executor = workers.executor();
        return new TaskDescriptor(
                executor.workers(),
                executor.sleepingWorkers(),
                Duration.ofNanos(executor.wakeNanos()),
                executor.liveProcesses(),
                workers.affinity(),
                workers.topology().groups().stream()
                        .map(TopologyGroup::toString)
                        .toList(),
                workers.topology().notes());
    }
}

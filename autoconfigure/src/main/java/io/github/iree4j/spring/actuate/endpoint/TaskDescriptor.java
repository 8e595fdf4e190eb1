package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.task.TopologyGroup;
import java.util.List;

/**
 * The workers, as the {@code iree} endpoint shows them.
 *
 * @param workers how many there are
 * @param sleepingWorkers how many have nothing to do
 * @param liveProcesses what is not over: calls that run or wait, and queues of devices
 * @param affinity whether each worker is bound to its processors
 * @param topology where each worker is, in the form of {@code iree.task.topology}
 * @param notes what was strange about the machine's description of itself
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

package io.github.iree4j;

import io.github.iree4j.vm.ContextOptions;
import java.util.List;

/**
 * How a runtime is set up.
 *
 * @param devices the devices to open, in the order programs see them: a driver's name ({@code local}) or {@code driver://id}
 * @param context limits that hold for every program
 * @param traceLeaks whether to remember where each result was created, so that a forgotten close can be reported with it; costs a
 *     stack walk per result
 * @param tasks the workers that its devices and its calls share
 * @param memory what its devices may take
 */
public record RuntimeOptions(
        List<String> devices, ContextOptions context, boolean traceLeaks, TaskOptions tasks, MemoryOptions memory) {
    /** The device {@code local}; limits of {@link ContextOptions#DEFAULTS}. */
    public static final RuntimeOptions DEFAULTS = new RuntimeOptions(
            List.of("local"), ContextOptions.DEFAULTS, false, TaskOptions.DEFAULTS, MemoryOptions.DEFAULTS);

    /**
     * Keeps its own copy of the list.
     *
     * @param devices the devices to open
     * @param context limits that hold for every program
     * @param traceLeaks whether to remember where each result was created
     * @param tasks its workers
     * @param memory what its devices may take
     */
    public RuntimeOptions {
        devices = List.copyOf(devices);
    }
}

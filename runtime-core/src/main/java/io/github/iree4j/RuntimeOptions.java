package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.ContextOptions;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The options of a runtime.
 *
 * @param sources the devices to open, in the order programs see them
 * @param context limits that hold for every program
 * @param traceLeaks whether to record where each result was created, so that a missing close can be reported with it; costs a
 *     stack walk per result
 * @param tasks the workers that its devices and calls share
 * @param closeLimit the longest that {@link IreeRuntime#close()} takes in all; null for ten seconds for each program and device
 */
public record RuntimeOptions(
        List<DeviceSource> sources,
        ContextOptions context,
        boolean traceLeaks,
        TaskOptions tasks,
        @Nullable Duration closeLimit) {
    /** The device {@code local}; limits of {@link ContextOptions#DEFAULTS}. */
    public static final RuntimeOptions DEFAULTS = new RuntimeOptions(
            List.of(DeviceSource.of("local")), ContextOptions.DEFAULTS, false, TaskOptions.DEFAULTS, null);

    /**
     * Keeps its own copy of the list.
     *
     * @param sources the devices to open
     * @param context limits that hold for every program
     * @param traceLeaks whether to record where each result was created
     * @param tasks its workers
     * @param closeLimit the longest that closing it takes, or null
     * @throws IreeException INVALID_ARGUMENT when two devices have the same name
     */
    public RuntimeOptions {
        sources = List.copyOf(sources);
        Set<String> names = new HashSet<>();
        for (DeviceSource source : sources) {
            if (!names.add(source.name())) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "two devices are called '%s'; give each its own name".formatted(source.name()));
            }
        }
    }

    /**
     * Returns the names of the devices.
     *
     * @return their names, in the order programs see them
     */
    public List<String> devices() {
        return sources.stream().map(DeviceSource::name).toList();
    }
}

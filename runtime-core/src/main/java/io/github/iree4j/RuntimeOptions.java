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
 * @param sources the devices to open, in the order seen by programs
 * @param context limits for every program
 * @param traceLeaks whether to record where each result was created, so that a missing close can be reported with the
 *     place; costs a stack walk per result
 * @param tasks the workers shared by devices and calls
 * @param closeLimit maximum total duration of {@link IreeRuntime#close()}; null for ten seconds for each program and
 *     device
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
     * Copies the list.
     *
     * @param sources the devices to open
     * @param context limits for every program
     * @param traceLeaks whether to record where each result was created
     * @param tasks the workers
     * @param closeLimit maximum duration of closing, or null
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
     * @return the names, in the order seen by programs
     */
    public List<String> devices() {
        return sources.stream().map(DeviceSource::name).toList();
    }
}

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
 * The options of a runtime, made by {@link RuntimeBuilder}.
 *
 * @param sources the devices to open, in the order seen by programs
 * @param context limits for every program
 * @param traceLeaks whether to record where each result was created, so that a missing close can be reported with the
 *     place; costs a stack walk per result
 * @param tasks the workers shared by devices and calls
 * @param closeLimit maximum total duration of {@link IreeRuntime#close()}; null for ten seconds for each program and
 *     device
 */
record RuntimeOptions(
        List<DeviceSource> sources,
        ContextOptions context,
        boolean traceLeaks,
        TaskOptions tasks,
        @Nullable Duration closeLimit) {
    /** Copies the list; INVALID_ARGUMENT when two devices have the same name. */
    RuntimeOptions {
        sources = List.copyOf(sources);
        Set<String> names = new HashSet<>();
        for (DeviceSource source : sources) {
            if (!names.add(source.name())) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "two devices are called '%s'; give each its own name".formatted(source.name()));
            }
        }
    }

    /** The names of the devices, in the order seen by programs. */
    List<String> devices() {
        return sources.stream().map(DeviceSource::name).toList();
    }
}

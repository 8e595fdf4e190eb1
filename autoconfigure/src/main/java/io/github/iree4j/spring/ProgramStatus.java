package io.github.iree4j.spring;

import io.github.iree4j.modules.parameters.ParameterProgress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Snapshot of a program's status.
 *
 * @param source what it is loaded from
 * @param state its lifecycle state
 * @param step human-readable description of the current step; empty when idle
 * @param progress fraction of the load that is done, 0 to 1
 * @param parameters progress of the most recently reported parameter scope, relative to all that its archives hold;
 *     null while none are loaded
 * @param since when it entered this state
 * @param loadTime duration of the last load, warm-up included; zero before the first
 * @param failure why the last load failed; null when it did not
 * @param changes how the functions of the program differ from those of the one that was loaded before under its name and version, a phrase for
 *     each difference; empty when they do not, or there was none
 */
public record ProgramStatus(
        ProgramSource source,
        ProgramState state,
        String step,
        double progress,
        @Nullable ParameterProgress parameters,
        Instant since,
        Duration loadTime,
        @Nullable Throwable failure,
        List<String> changes) {
    /** Copies. */
    public ProgramStatus {
        changes = List.copyOf(changes);
    }
}

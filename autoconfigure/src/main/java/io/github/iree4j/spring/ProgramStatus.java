package io.github.iree4j.spring;

import io.github.iree4j.modules.parameters.ParameterProgress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Snapshot of a program's status.
 *
 * @param source the source of the program
 * @param state the lifecycle state
 * @param step human-readable description of the current step; empty when idle
 * @param progress completed fraction of the load, 0 to 1
 * @param parameters progress of the most recently reported parameter scope, relative to the total size of the scope's
 *     archives; null while no parameters are loaded
 * @param since time of entering this state
 * @param loadTime duration of the last load, warm-up included; zero before the first
 * @param failure the cause of the last load's failure; null without a failure
 * @param changes differences between the functions of the program and of the program previously loaded under the same
 *     name and version, a phrase for each difference; empty without differences or without a predecessor
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
    /** Copies the changes. */
    public ProgramStatus {
        changes = List.copyOf(changes);
    }
}

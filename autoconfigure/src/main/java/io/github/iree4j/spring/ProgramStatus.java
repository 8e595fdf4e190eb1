package io.github.iree4j.spring;

import io.github.iree4j.modules.parameters.ParameterProgress;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How far a program is, at one moment.
 *
 * @param source what it is loaded from
 * @param state how far it is
 * @param step what is being done, for people; empty when nothing is
 * @param progress how much of the loading is done, 0 to 1
 * @param parameters how far the parameters are of the scope that was heard of last, of all that its archives hold; null while none are loaded
 * @param since when it came into this state
 * @param loadTime how long the last loading took, warm-up included; zero before
 * @param failure why it could not be loaded; null when it could
 */
public record ProgramStatus(
        ProgramSource source,
        ProgramState state,
        String step,
        double progress,
        @Nullable ParameterProgress parameters,
        Instant since,
        Duration loadTime,
        @Nullable Throwable failure) {}

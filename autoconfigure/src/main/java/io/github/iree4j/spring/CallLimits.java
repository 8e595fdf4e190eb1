package io.github.iree4j.spring;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Maximum durations of calls.
 *
 * @param general applies to programs without a specific limit; null or zero for no limit
 * @param byProgram limits by program name; zero for no limit
 */
record CallLimits(@Nullable Duration general, Map<String, Duration> byProgram) {

    static final CallLimits NONE = new CallLimits(null, Map.of());

    /** Copies the map. */
    CallLimits {
        byProgram = Map.copyOf(byProgram);
    }

    /** Returns the limit of a program; null or zero for none. */
    @Nullable
    Duration of(String program) {
        Duration own = byProgram.get(program);
        return own == null ? general : own;
    }
}

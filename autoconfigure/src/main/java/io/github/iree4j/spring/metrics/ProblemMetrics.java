package io.github.iree4j.spring.metrics;

import io.github.iree4j.spring.metrics.IreeMeters.Key;
import io.github.iree4j.spring.problems.Problem;
import io.github.iree4j.spring.problems.Watchdog;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/** Binds the {@linkplain IreeMeters meters} of problems. */
public final class ProblemMetrics implements MeterBinder {

    private final Watchdog watchdog;

    /**
     * Creates the meters.
     *
     * @param watchdog knows the problems
     */
    public ProblemMetrics(Watchdog watchdog) {
        this.watchdog = watchdog;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (String kind : Problem.KINDS) {
            Gauge.builder(IreeMeters.PROBLEMS.getName(), watchdog, each -> count(each, kind))
                    .description(IreeMeters.PROBLEMS.getDescription())
                    .baseUnit(IreeMeters.PROBLEMS.getBaseUnit())
                    .tag(Key.PROBLEM.asString(), kind)
                    .register(registry);
        }
        FunctionCounter.builder(IreeMeters.PROBLEMS_FOUND.getName(), watchdog, Watchdog::found)
                .description(IreeMeters.PROBLEMS_FOUND.getDescription())
                .baseUnit(IreeMeters.PROBLEMS_FOUND.getBaseUnit())
                .register(registry);
        Gauge.builder(IreeMeters.STALLED.getName(), watchdog, each -> each.isStalled() ? 1 : 0)
                .description(IreeMeters.STALLED.getDescription())
                .baseUnit(IreeMeters.STALLED.getBaseUnit())
                .register(registry);
    }

    private static long count(Watchdog watchdog, String kind) {
        return watchdog.problems().stream()
                .map(Problem::kind)
                .filter(kind::equals)
                .count();
    }
}

package io.github.iree4j.spring.metrics;

import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.ProgramStatusEvent;
import io.github.iree4j.spring.metrics.IreeMeters.Key;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationListener;

/** Records the load time of programs. */
public final class ProgramLoadMetrics implements ApplicationListener<ProgramStatusEvent> {

    private final Supplier<@Nullable MeterRegistry> registry;

    /**
     * Creates the meters.
     *
     * @param registry looked up lazily, since programs may be loaded during context refresh
     */
    public ProgramLoadMetrics(Supplier<@Nullable MeterRegistry> registry) {
        this.registry = registry;
    }

    @Override
    public void onApplicationEvent(ProgramStatusEvent event) {
        ProgramStatus status = event.status();
        boolean over = status.state() == ProgramState.READY || status.failure() != null;
        MeterRegistry target = over ? registry.get() : null;
        if (target != null) {
            Timer.builder(IreeMeters.MODULE_LOAD.getName())
                    .description(IreeMeters.MODULE_LOAD.getDescription())
                    .tag(Key.MODULE.asString(), status.source().name())
                    .tag(Key.OUTCOME.asString(), status.failure() == null ? "ready" : "failed")
                    .register(target)
                    .record(status.loadTime());
        }
    }
}

package io.github.iree4j.spring.metrics;

import io.github.iree4j.spring.batching.BatchListener;
import io.github.iree4j.spring.metrics.IreeMeters.Key;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Records the size of batches and the waiting time of the first call in each batch. */
public final class BatchMetrics implements BatchListener {

    private final Supplier<@Nullable MeterRegistry> registry;

    /**
     * Creates the meters.
     *
     * @param registry looked up at each batch
     */
    public BatchMetrics(Supplier<@Nullable MeterRegistry> registry) {
        this.registry = registry;
    }

    @Override
    public void batched(String model, String function, int calls, int rows, int paddedRows, long waitNanos) {
        MeterRegistry target = registry.get();
        if (target == null) {
            return;
        }
        DistributionSummary.builder(IreeMeters.BATCH_SIZE.getName())
                .description(IreeMeters.BATCH_SIZE.getDescription())
                .baseUnit(IreeMeters.BATCH_SIZE.getBaseUnit())
                .tag(Key.MODULE.asString(), model)
                .register(target)
                .record(rows);
        Timer.builder(IreeMeters.BATCH_WAIT.getName())
                .description(IreeMeters.BATCH_WAIT.getDescription())
                .tag(Key.MODULE.asString(), model)
                .register(target)
                .record(waitNanos, TimeUnit.NANOSECONDS);
    }
}

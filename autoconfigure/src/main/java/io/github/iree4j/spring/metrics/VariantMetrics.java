package io.github.iree4j.spring.metrics;

import io.github.iree4j.monitor.VariantListener;
import io.github.iree4j.spring.metrics.IreeMeters.Key;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Counts the calls of shape variants and their padding. */
public final class VariantMetrics implements VariantListener {

    private final Supplier<@Nullable MeterRegistry> registry;

    /**
     * Creates the meters.
     *
     * @param registry looked up at each call
     */
    public VariantMetrics(Supplier<@Nullable MeterRegistry> registry) {
        this.registry = registry;
    }

    @Override
    public void called(String consumer, String function, String variant, long elements, long padding) {
        MeterRegistry target = registry.get();
        if (target != null) {
            counter(IreeMeters.VARIANT_CALLS, consumer, function)
                    .tag(Key.VARIANT.asString(), variant)
                    .register(target)
                    .increment();
            counter(IreeMeters.VARIANT_ELEMENTS, consumer, function)
                    .register(target)
                    .increment(elements);
            counter(IreeMeters.VARIANT_PADDING, consumer, function)
                    .register(target)
                    .increment(padding);
        }
    }

    @Override
    public void aligned(String consumer, String function, long padding) {
        MeterRegistry target = registry.get();
        if (target != null) {
            counter(IreeMeters.VARIANT_PADDING, consumer, function)
                    .register(target)
                    .increment(padding);
        }
    }

    private static Counter.Builder counter(IreeMeters meter, String module, String function) {
        return Counter.builder(meter.getName())
                .description(meter.getDescription())
                .baseUnit(meter.getBaseUnit())
                .tag(Key.MODULE.asString(), module)
                .tag(Key.FUNCTION.asString(), function);
    }
}

package io.github.iree4j.spring.metrics;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.ConsumerStatistics;
import io.github.iree4j.monitor.TurnStatistics;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.ProgramStatusEvent;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.metrics.IreeMeters.Key;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.springframework.context.ApplicationListener;

/**
 * Binds the {@linkplain IreeMeters meters} of each program: the line, and the memory on each device. For programs
 * loaded later, meters are bound when the program is ready.
 */
public final class ProgramMetrics implements MeterBinder, ApplicationListener<ProgramStatusEvent> {

    /** Stands for memory not belonging to a program. */
    private static final String NONE = "none";

    private final IreeRuntime runtime;
    private final Programs programs;
    // the programs of each registry
    private final Map<MeterRegistry, Set<String>> registries = new ConcurrentHashMap<>();

    /**
     * Creates the meters of a runtime.
     *
     * @param runtime the runtime whose devices to measure
     * @param programs the programs to measure
     */
    public ProgramMetrics(IreeRuntime runtime, Programs programs) {
        this.runtime = runtime;
        this.programs = programs;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        registries.put(registry, ConcurrentHashMap.newKeySet());
        memory(registry, NONE, "");
        for (ProgramStatus status : programs.statuses()) {
            program(registry, status.source().name());
        }
    }

    @Override
    public void onApplicationEvent(ProgramStatusEvent event) {
        if (event.status().state() == ProgramState.READY) {
            registries
                    .keySet()
                    .forEach(registry ->
                            program(registry, event.status().source().name()));
        }
    }

    /** Registers the meters of a program, once: the meters stay when the program is replaced, and registries warn of a second registration. */
    private void program(MeterRegistry registry, String name) {
        if (!Objects.requireNonNull(registries.get(registry)).add(name)) {
            return;
        }
        Tags tags = Tags.of(Key.MODULE.asString(), name);
        Gauge.builder(IreeMeters.CALLS_IN_LINE.getName(), programs, _ -> sum(name, TurnStatistics::inLine))
                .description(IreeMeters.CALLS_IN_LINE.getDescription())
                .baseUnit(IreeMeters.CALLS_IN_LINE.getBaseUnit())
                .tags(tags)
                .strongReference(true)
                .register(registry);
        FunctionTimer.builder(
                        IreeMeters.CALLS_LINE.getName(),
                        programs,
                        _ -> sum(name, TurnStatistics::waited),
                        _ -> sum(name, turns -> turns.time().toNanos()),
                        TimeUnit.NANOSECONDS)
                .description(IreeMeters.CALLS_LINE.getDescription())
                .tags(tags)
                .register(registry);
        memory(registry, name, name);
    }

    private long sum(String name, ToLongFunction<TurnStatistics> number) {
        return programs.find(name).stream()
                .flatMap(loaded -> loaded.instances().stream())
                .map(each -> each.monitor().turns())
                .mapToLong(number)
                .sum();
    }

    private void memory(MeterRegistry registry, String module, String consumer) {
        for (Device device : runtime.devices()) {
            String name = runtime.monitor().devices().nameOf(device);
            Gauge.builder( // by name: a device of another machine may be replaced
                            IreeMeters.POOL_USAGE.getName(),
                            runtime,
                            each -> each.monitor()
                                    .devices()
                                    .find(name)
                                    .map(found -> live(found, consumer))
                                    .orElse(0L))
                    .description(IreeMeters.POOL_USAGE.getDescription())
                    .baseUnit(IreeMeters.POOL_USAGE.getBaseUnit())
                    .tags(Tags.of(Key.DEVICE.asString(), name, Key.MODULE.asString(), module))
                    .strongReference(true)
                    .register(registry);
        }
    }

    private static long live(Device device, String consumer) {
        List<ConsumerStatistics> consumers = device.allocator().poolStatistics().consumers();
        Stream<ConsumerStatistics> own =
                consumers.stream().filter(each -> each.consumer().equals(consumer));
        return own.mapToLong(each -> each.bytesTransient() + each.bytesPersistent())
                .sum();
    }
}

package io.github.iree4j.spring.metrics;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.TaintWindow;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.pool.PoolStatistics;
import io.github.iree4j.monitor.RuntimeMonitor;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.metrics.IreeMeters.Key;
import io.github.iree4j.task.ProcessExecutor;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Binds the {@linkplain IreeMeters meters} of devices, queues, pools, workers and tensors. Reads the runtime's own
 * counters on demand, so nothing is counted twice and an unread registry costs nothing.
 */
public final class IreeMetrics implements MeterBinder {

    private final IreeRuntime runtime;
    private final Programs programs;

    /**
     * Creates the meters of a runtime.
     *
     * @param runtime the runtime whose devices to measure
     * @param programs the programs whose calls to measure
     */
    public IreeMetrics(IreeRuntime runtime, Programs programs) {
        this.runtime = runtime;
        this.programs = programs;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        runtime.monitor().devices().watch(device -> device(registry, device));
        ProcessExecutor executor = runtime.monitor().workers().executor();
        gauge(
                registry,
                IreeMeters.TASK_WORKERS,
                state("busy"),
                executor,
                each -> each.workers() - each.sleepingWorkers());
        gauge(registry, IreeMeters.TASK_WORKERS, state("sleeping"), executor, ProcessExecutor::sleepingWorkers);
        gauge(registry, IreeMeters.TASK_PROCESSES, Tags.empty(), executor, ProcessExecutor::liveProcesses);
        gauge(registry, IreeMeters.CALLS_ACTIVE, Tags.empty(), programs, Programs::activeCalls);
        gauge(registry, IreeMeters.TENSOR_OPEN, Tags.empty(), runtime.monitor(), RuntimeMonitor::openTensors);
        counter(registry, IreeMeters.TENSOR_LEAKED, Tags.empty(), runtime.monitor(), RuntimeMonitor::forgottenTensors);
        counter(registry, IreeMeters.TAINT_OPENED, Tags.empty(), this, _ -> TaintWindow.openedCount());
        counter(registry, IreeMeters.TAINT_RECOVERED, Tags.empty(), this, _ -> TaintWindow.recoveredCount());
    }

    private void device(MeterRegistry registry, Device device) {
        String name = runtime.monitor().devices().nameOf(device);
        if (runtime.monitor().devices().isRemote(name)) {
            removeAll(registry, name); // meters of the replaced device
        }
        Tags tags = Tags.of(Key.DEVICE.asString(), name);
        for (int i = 0; i < device.queueCount(); i++) {
            queue(registry, device.queue(i), tags.and(Key.QUEUE.asString(), Integer.toString(i)));
        }
        pools(registry, device, tags);
        gauge(
                registry,
                IreeMeters.DEVICE_LOST,
                tags,
                device,
                each -> each.failure().isEmpty() ? 0 : 1);
        gauge(
                registry,
                IreeMeters.DEVICE_STREAMS,
                tags,
                device,
                each -> each.driverCounters().streams());
        gauge(
                registry,
                IreeMeters.DEVICE_EVENTS,
                tags,
                device,
                each -> each.driverCounters().events());
        gauge(
                registry,
                IreeMeters.DEVICE_HELD,
                tags,
                device,
                each -> each.driverCounters().held());
        counter(
                registry,
                IreeMeters.DEVICE_GRAPH_LAUNCHES,
                tags,
                device,
                each -> each.driverCounters().graphLaunches());
    }

    private static void removeAll(MeterRegistry registry, String device) {
        for (Meter each : registry.getMeters()) {
            if (each.getId().getName().startsWith("iree.")
                    && !each.getId().getName().equals(IreeMeters.POOL_USAGE.getName())
                    && device.equals(each.getId().getTag(Key.DEVICE.asString()))) {
                registry.remove(each);
            }
        }
    }

    private static void queue(MeterRegistry registry, DeviceQueue queue, Tags tags) {
        gauge(
                registry,
                IreeMeters.QUEUE_DEPTH,
                tags,
                queue,
                each -> each.counters().pending() + each.counters().inFlight());
        gauge(
                registry,
                IreeMeters.QUEUE_PENDING,
                tags,
                queue,
                each -> each.counters().pending());
        counted(
                registry,
                IreeMeters.QUEUE_OPERATIONS,
                tags.and(Key.OUTCOME.asString(), "retired"),
                queue,
                QueueCounters::retired);
        counted(
                registry,
                IreeMeters.QUEUE_OPERATIONS,
                tags.and(Key.OUTCOME.asString(), "failed"),
                queue,
                QueueCounters::failed);
        decision(registry, queue, tags, "reached", QueueCounters::reached);
        decision(registry, queue, tags, "elided-fifo", QueueCounters::elidedFifo);
        decision(registry, queue, tags, "elided-frontier", QueueCounters::elidedFrontier);
        decision(registry, queue, tags, "covered", QueueCounters::covered);
        decision(registry, queue, tags, "device", QueueCounters::deviceWaits);
        decision(registry, queue, tags, "deferred", QueueCounters::deferred);
        counter(
                registry,
                IreeMeters.STREAM_SUBMISSIONS,
                tags,
                queue,
                each -> each.streamCounters().submissions());
        counter(
                registry,
                IreeMeters.STREAM_WAITS,
                tags,
                queue,
                each -> each.streamCounters().waits());
        timer(
                registry,
                IreeMeters.FENCE_WAIT,
                tags,
                queue,
                each -> each.counters().deferred(),
                each -> each.counters().heldBackNanos());
        gauge(
                registry,
                IreeMeters.FRONTIER_SIZE,
                tags,
                queue,
                each -> each.frontier().size());
        counter(
                registry,
                IreeMeters.FRONTIER_MERGES,
                tags,
                queue,
                each -> each.frontierCounters().merges());
        counter(
                registry,
                IreeMeters.FRONTIER_EVICTIONS,
                tags,
                queue,
                each -> each.frontierCounters().evictions());
    }

    private static void decision(
            MeterRegistry registry,
            DeviceQueue queue,
            Tags tags,
            String decision,
            ToDoubleFunction<QueueCounters> count) {
        counted(registry, IreeMeters.QUEUE_WAITS, tags.and(Key.DECISION.asString(), decision), queue, count);
    }

    private static void counted(
            MeterRegistry registry,
            IreeMeters meter,
            Tags tags,
            DeviceQueue queue,
            ToDoubleFunction<QueueCounters> count) {
        counter(registry, meter, tags, queue, each -> count.applyAsDouble(each.counters()));
    }

    private static void pools(MeterRegistry registry, Device device, Tags tags) {
        PoolSetStatistics pools = device.allocator().poolStatistics();
        gauge(
                registry,
                IreeMeters.POOL_BUDGET,
                tags,
                device,
                each -> each.allocator().poolStatistics().budget());
        gauge(
                registry,
                IreeMeters.POOL_WAITERS,
                tags,
                device,
                each -> each.allocator().poolStatistics().waiting());
        for (PoolStatistics pool : pools.pools()) {
            pool(registry, device, pool.name(), tags.and(Key.POOL.asString(), pool.name()));
        }
    }

    private static void pool(MeterRegistry registry, Device device, String name, Tags tags) {
        memory(registry, device, name, tags, "live", PoolStatistics::bytesLive);
        memory(registry, device, name, tags, "cached", PoolStatistics::bytesCached);
        memory(registry, device, name, tags, "reserved", PoolStatistics::bytesReserved);
        memory(registry, device, name, tags, "peak", PoolStatistics::bytesPeak);
        reservations(registry, device, name, tags, "fresh", PoolStatistics::fresh);
        reservations(registry, device, name, tags, "without-wait", PoolStatistics::reusedWithoutWait);
        reservations(registry, device, name, tags, "after-wait", PoolStatistics::reusedAfterWait);
        counter(
                registry,
                IreeMeters.POOL_REFUSALS,
                reason(tags, "tainted"),
                device,
                of(name, PoolStatistics::refusedTainted));
        counter(
                registry,
                IreeMeters.POOL_REFUSALS,
                reason(tags, "uncovered"),
                device,
                of(name, PoolStatistics::refusedUncovered));
        counter(registry, IreeMeters.POOL_FAILURES, tags, device, of(name, PoolStatistics::failures));
        timer(
                registry,
                IreeMeters.POOL_WAIT,
                tags,
                device,
                each -> (long) of(name, PoolStatistics::waits).applyAsDouble(each),
                of(name, PoolStatistics::waitedNanos));
    }

    private static void memory(
            MeterRegistry registry,
            Device device,
            String pool,
            Tags tags,
            String state,
            ToLongFunction<PoolStatistics> bytes) {
        gauge(registry, IreeMeters.POOL_MEMORY, tags.and(Key.STATE.asString(), state), device, of(pool, bytes));
    }

    private static void reservations(
            MeterRegistry registry,
            Device device,
            String pool,
            Tags tags,
            String reuse,
            ToLongFunction<PoolStatistics> count) {
        counter(registry, IreeMeters.POOL_RESERVATIONS, tags.and(Key.REUSE.asString(), reuse), device, of(pool, count));
    }

    private static Tags state(String state) {
        return Tags.of(Key.STATE.asString(), state);
    }

    private static Tags reason(Tags tags, String reason) {
        return tags.and(Key.REASON.asString(), reason);
    }

    /** Returns a statistic of the pool of the given name. */
    private static ToDoubleFunction<Device> of(String name, ToLongFunction<PoolStatistics> number) {
        return device -> {
            for (PoolStatistics pool : device.allocator().poolStatistics().pools()) {
                if (pool.name().equals(name)) {
                    return number.applyAsLong(pool);
                }
            }
            return 0;
        };
    }

    private static <T> void gauge(
            MeterRegistry registry, IreeMeters meter, Tags tags, T source, ToDoubleFunction<T> value) {
        Gauge.builder(meter.getName(), source, value)
                .description(meter.getDescription())
                .baseUnit(meter.getBaseUnit())
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    private static <T> void counter(
            MeterRegistry registry, IreeMeters meter, Tags tags, T source, ToDoubleFunction<T> count) {
        FunctionCounter.builder(meter.getName(), source, count)
                .description(meter.getDescription())
                .baseUnit(meter.getBaseUnit())
                .tags(tags)
                .register(registry);
    }

    private static <T> void timer(
            MeterRegistry registry,
            IreeMeters meter,
            Tags tags,
            T source,
            ToLongFunction<T> count,
            ToDoubleFunction<T> nanos) {
        FunctionTimer.builder(meter.getName(), source, count, nanos, TimeUnit.NANOSECONDS)
                .description(meter.getDescription())
                .tags(tags)
                .register(registry);
    }
}

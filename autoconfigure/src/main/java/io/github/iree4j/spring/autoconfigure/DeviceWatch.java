package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.spring.DeviceLostEvent;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * Reports the loss of a device to the log, the events and listeners. Does not poll: a wait for an epoch never reached
 * by a queue completes only when the queue fails.
 */
final class DeviceWatch implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(DeviceWatch.class);

    private final IreeRuntime runtime;
    private final IreeEvents events;
    private final ApplicationEventPublisher publisher;
    private final AsyncTaskExecutor executor;
    private final AtomicBoolean started = new AtomicBoolean();
    private final Set<Device> watched = ConcurrentHashMap.newKeySet();
    private final List<Cancellation> waits = new ArrayList<>(); // guarded by itself
    private volatile boolean running;

    /**
     * Creates the watch.
     *
     * @param executor runs tasks that may block
     */
    DeviceWatch(
            IreeRuntime runtime, IreeEvents events, ApplicationEventPublisher publisher, AsyncTaskExecutor executor) {
        this.runtime = runtime;
        this.events = events;
        this.publisher = publisher;
        this.executor = executor;
    }

    @Override
    public void start() {
        running = true;
        if (!started.getAndSet(true)) {
            runtime.monitor().devices().watch(this::watch);
        } else {
            runtime.devices().forEach(this::watch); // the context was stopped and is started again
        }
    }

    private void watch(Device device) {
        if (!running || !watched.add(device)) {
            return;
        }
        AtomicBoolean told = new AtomicBoolean(device.failure().isPresent());
        FrontierTracker tracker = device.schedulingDomain().tracker();
        for (int i = 0; i < device.queueCount() && !told.get(); i++) {
            DeviceQueue queue = device.queue(i);
            Cancellation wait = tracker.whenCompleted(Frontier.of(queue.axis(), Long.MAX_VALUE), _ -> {
                IreeException cause = tracker.failure(queue.axis()); // null when the device was closed in order
                if (cause != null && told.compareAndSet(false, true)) {
                    watched.remove(device);
                    executor.execute(() -> report(runtime.monitor().devices().nameOf(device), cause));
                }
            });
            synchronized (waits) {
                waits.add(wait);
            }
        }
    }

    private void report(String device, IreeException cause) {
        log.atError().addKeyValue("iree.device", device).log("device '{}' was lost: {}", device, cause.toString());
        events.add("device.lost", device, cause.toString());
        publisher.publishEvent(new DeviceLostEvent(this, device, cause));
    }

    @Override
    public void stop() {
        running = false;
        synchronized (waits) {
            waits.forEach(Cancellation::cancel);
            waits.clear();
        }
        watched.clear();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Starts before programs take calls and stops after all calls have ended. */
    @Override
    public int getPhase() {
        return IreeLifecycle.PHASE - 1;
    }
}

package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.hal.Device;
import io.github.iree4j.monitor.DeviceMonitor;
import io.github.iree4j.spring.cluster.ClusterFencedEvent;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.scheduling.TaskScheduler;

/**
 * Joins the cluster when a program is loaded on a device of another node, else before the web server starts. Draining
 * starts when the application begins to stop; the node leaves after calls have ended, once the work accepted from other
 * nodes has completed. A fenced node refuses traffic, and restarts or closes the application as configured.
 */
final class ClusterLifecycle implements SmartLifecycle, ApplicationListener<ApplicationEvent> {

    /** Starts before programs are loaded in the background, and stops after calls have ended; the calls' offset from the default phase is 3072. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 3072 - 512;

    private static final String STOPS = "the application stops";
    private static final Logger log = LoggerFactory.getLogger(ClusterLifecycle.class);

    private final ClusterNode node;
    private final LeaseKeeper lease;
    private final IreeRuntime runtime;
    private final TaskScheduler scheduler;
    private final Duration interval;
    private final Duration sessions;
    private final Duration draining;
    private final ApplicationEventPublisher publisher;
    private final Runnable whenFenced;
    private volatile boolean running;
    private @Nullable ScheduledFuture<?> looking; // guarded by this; null before joining

    /**
     * Creates the lifecycle.
     *
     * @param runtime the runtime; its devices of other nodes are closed with the sessions
     * @param interval the time between looks
     * @param sessions how long to wait for sessions with the nodes present already
     * @param draining how long work of other nodes may take to end when this node stops
     * @param publisher the application; its end begins the draining
     * @param whenFenced the action on fencing, besides refusing traffic; must not block
     */
    ClusterLifecycle(
            ClusterNode node,
            LeaseKeeper lease,
            IreeRuntime runtime,
            TaskScheduler scheduler,
            Duration interval,
            Duration sessions,
            Duration draining,
            ApplicationEventPublisher publisher,
            Runnable whenFenced) {
        this.node = node;
        this.lease = lease;
        this.runtime = runtime;
        this.scheduler = scheduler;
        this.interval = interval;
        this.sessions = sessions;
        this.draining = draining;
        this.publisher = publisher;
        this.whenFenced = whenFenced;
    }

    /** Joins the cluster, once. May block for some seconds. */
    synchronized void join() {
        if (looking == null) {
            node.start();
            looking = scheduler.scheduleWithFixedDelay(node::look, interval);
        }
    }

    @Override
    public void start() {
        running = true;
        join();
        try {
            if (!node.awaitSessions(sessions)) {
                log.warn(
                        "{} has no session with some of {} yet",
                        node.identity(),
                        node.view().members());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void stop(Runnable callback) {
        Thread.ofPlatform().name("iree-cluster-stop").start(() -> {
            try {
                stop();
            } finally {
                callback.run();
            }
        });
    }

    @Override
    public void stop() {
        running = false;
        synchronized (this) {
            if (looking != null) {
                looking.cancel(false);
            }
        }
        node.goAway(STOPS);
        closeDevices();
        try {
            if (!node.drain(draining)) {
                log.warn(
                        "{} leaves with work of other nodes that did not end within {}",
                        node.identity(),
                        DurationText.of(draining));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        node.close();
        release();
    }

    /**
     * Releases the lease within a short time: an unresponsive store delays the end of the application only a little,
     * because the lease ends by itself.
     */
    private void release() {
        Duration limit = draining.dividedBy(4);
        Thread releasing =
                Thread.ofPlatform().daemon().name("iree-lease-release").start(lease::release);
        try {
            if (!releasing.join(limit)) {
                log.warn(
                        "the lease of {} is not released within {}; it ends by itself",
                        node.identity(),
                        DurationText.of(limit));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Closes the devices of other nodes after calls have ended: in order, not lost with their sessions. */
    private void closeDevices() {
        DeviceMonitor names = runtime.monitor().devices();
        for (Device device : runtime.devices()) {
            if (names.isRemote(names.nameOf(device))) {
                try {
                    device.close();
                } catch (IreeException e) {
                    log.warn("device '{}' is not closed: {}", names.nameOf(device), e.getMessage());
                }
            }
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (event instanceof ClusterFencedEvent) {
            AvailabilityChangeEvent.publish(publisher, this, ReadinessState.REFUSING_TRAFFIC);
            whenFenced.run();
        } else if (event instanceof ContextClosedEvent closed
                && closed.getSource().equals(publisher)) {
            node.goAway(STOPS); // before the web server stops, so peers choose other nodes from now on
        } else if (event instanceof AvailabilityChangeEvent<?> change
                && change.getState() == ReadinessState.ACCEPTING_TRAFFIC
                && node.fenced().isPresent()) {
            AvailabilityChangeEvent.publish(publisher, this, ReadinessState.REFUSING_TRAFFIC);
        }
    }
}

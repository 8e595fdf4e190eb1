package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.spring.cluster.ClusterFencedEvent;
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
 * Joins the cluster when the programs are loaded, before the web server starts, and leaves it after the web server has stopped. It drains from
 * when the application begins to stop, and leaves when what it had accepted by then is over. A fenced node refuses traffic, and closes the
 * application where that is wanted.
 */
final class ClusterLifecycle implements SmartLifecycle, ApplicationListener<ApplicationEvent> {

    /** Between the programs and the web server, whose offsets from the default phase are 3072 and 2048. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 2048 - 512;

    private static final String STOPS = "the application stops";
    private static final Logger log = LoggerFactory.getLogger(ClusterLifecycle.class);

    private final ClusterNode node;
    private final LeaseKeeper lease;
    private final TaskScheduler scheduler;
    private final Duration interval;
    private final Duration sessions;
    private final Duration draining;
    private final ApplicationEventPublisher publisher;
    private final Runnable shutdown;
    private volatile boolean running;
    private volatile @Nullable ScheduledFuture<?> looking;

    /**
     * Creates the lifecycle.
     *
     * @param interval the time between looks
     * @param sessions how long to wait for sessions with the nodes that are there already
     * @param draining how long work of other nodes may take to end when this one stops
     * @param publisher the application, whose end begins the draining
     * @param shutdown what to do when the node is fenced, besides refusing traffic; must not block
     */
    ClusterLifecycle(
            ClusterNode node,
            LeaseKeeper lease,
            TaskScheduler scheduler,
            Duration interval,
            Duration sessions,
            Duration draining,
            ApplicationEventPublisher publisher,
            Runnable shutdown) {
        this.node = node;
        this.lease = lease;
        this.scheduler = scheduler;
        this.interval = interval;
        this.sessions = sessions;
        this.draining = draining;
        this.publisher = publisher;
        this.shutdown = shutdown;
    }

    @Override
    public void start() {
        running = true;
        node.start();
        looking = scheduler.scheduleWithFixedDelay(node::look, interval);
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
        ScheduledFuture<?> task = looking;
        if (task != null) {
            task.cancel(false);
        }
        node.goAway(STOPS);
        try {
            if (!node.drain(draining)) {
                log.warn("{} leaves with work of other nodes that did not end within {}", node.identity(), draining);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        node.close();
        lease.release();
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
            shutdown.run();
        } else if (event instanceof ContextClosedEvent closed
                && closed.getSource().equals(publisher)) {
            node.goAway(STOPS); // before the web server stops, so that peers choose others from now on
        } else if (event instanceof AvailabilityChangeEvent<?> change
                && change.getState() == ReadinessState.ACCEPTING_TRAFFIC
                && node.fenced() != null) {
            AvailabilityChangeEvent.publish(publisher, this, ReadinessState.REFUSING_TRAFFIC);
        }
    }
}

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
import org.springframework.scheduling.TaskScheduler;

/**
 * Joins the cluster when the programs are loaded, before the web server starts, and leaves it after the web server has stopped. A fenced node
 * refuses traffic, and closes the application where that is wanted.
 */
final class ClusterLifecycle implements SmartLifecycle, ApplicationListener<ApplicationEvent> {

    /** Between the programs and the web server, whose offsets from the default phase are 3072 and 2048. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 2048 - 512;

    private static final Logger log = LoggerFactory.getLogger(ClusterLifecycle.class);

    private final ClusterNode node;
    private final LeaseKeeper lease;
    private final TaskScheduler scheduler;
    private final Duration interval;
    private final Duration sessions;
    private final ApplicationEventPublisher publisher;
    private final Runnable shutdown;
    private volatile boolean running;
    private volatile @Nullable ScheduledFuture<?> looking;

    /**
     * Creates the lifecycle.
     *
     * @param interval the time between looks
     * @param sessions how long to wait for sessions with the nodes that are there already
     * @param shutdown what to do when the node is fenced, besides refusing traffic; must not block
     */
    ClusterLifecycle(
            ClusterNode node,
            LeaseKeeper lease,
            TaskScheduler scheduler,
            Duration interval,
            Duration sessions,
            ApplicationEventPublisher publisher,
            Runnable shutdown) {
        this.node = node;
        this.lease = lease;
        this.scheduler = scheduler;
        this.interval = interval;
        this.sessions = sessions;
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
    public void stop() {
        running = false;
        ScheduledFuture<?> task = looking;
        if (task != null) {
            task.cancel(false);
        }
        node.goAway("the application stops");
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
        } else if (event instanceof AvailabilityChangeEvent<?> change
                && change.getState() == ReadinessState.ACCEPTING_TRAFFIC
                && node.fenced() != null) {
            AvailabilityChangeEvent.publish(publisher, this, ReadinessState.REFUSING_TRAFFIC);
        }
    }
}

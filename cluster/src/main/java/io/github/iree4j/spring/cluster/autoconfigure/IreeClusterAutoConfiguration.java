package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.cluster.ClusterDevices;
import io.github.iree4j.cluster.ClusterListener;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.identity.IdentityStore;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.cluster.membership.HeartbeatMembership;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.RemoteNode;
import io.github.iree4j.hal.remote.RemoteTracer;
import io.github.iree4j.monitor.DeviceMonitor;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.IreeDeviceCustomizer;
import io.github.iree4j.spring.autoconfigure.IreeProperties;
import io.github.iree4j.spring.cluster.autoconfigure.IreeClusterProperties.OnFence;
import io.grpc.Server;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

/**
 * {@link AutoConfiguration Auto-configuration} for a node of a cluster. The lease precedes the devices, because the
 * names of the devices' timelines contain the lease's machine and session.
 */
@AutoConfiguration(
        before = IreeAutoConfiguration.class,
        afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({IreeRuntime.class, Server.class})
@ConditionalOnBooleanProperty("iree.cluster.enabled")
@EnableConfigurationProperties(IreeClusterProperties.class)
public final class IreeClusterAutoConfiguration {

    private static final int LOOKS_PER_LEASE = 120;
    private static final Duration SHORTEST_LEASE = Duration.ofMillis(15);
    private static final Logger log = LoggerFactory.getLogger(IreeClusterAutoConfiguration.class);

    /** For Spring. */
    IreeClusterAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "ireeClusterSettings")
    ClusterSettings ireeClusterSettings(IreeClusterProperties properties, ObjectProvider<SslBundles> bundles) {
        return new ClusterSettings(properties, bundles::getIfAvailable);
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    IdentityStore ireeIdentityStore(
            IreeClusterProperties properties,
            ClusterSettings settings,
            Environment environment,
            ObjectProvider<DataSource> databases) {
        return new IdentityStores(properties, settings, environment).make(databases::getIfUnique);
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeFence")
    Fence ireeFence() {
        return new Fence();
    }

    /** Schedules the regular checks of the lease and the node. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean(name = "ireeClusterScheduler")
    SimpleAsyncTaskScheduler ireeClusterScheduler() {
        SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler();
        scheduler.setThreadNamePrefix("iree-cluster-look-");
        scheduler.setDaemon(true);
        return scheduler;
    }

    @Bean(destroyMethod = "release")
    @ConditionalOnMissingBean
    LeaseKeeper ireeLease(
            IdentityStore store,
            IreeClusterProperties properties,
            Fence fence,
            SimpleAsyncTaskScheduler ireeClusterScheduler,
            ApplicationContext context) {
        Duration duration = properties.identity().leaseDuration();
        if (duration.compareTo(SHORTEST_LEASE) < 0) {
            throw ClusterSettings.invalid("identity.lease-duration", duration, "It must be at least 15 ms.");
        }
        SimpleAsyncTaskExecutor renewals = new SimpleAsyncTaskExecutor("iree-lease-");
        renewals.setDaemon(true);
        LeaseKeeper keeper = LeaseKeeper.acquire(store, duration, System::nanoTime, renewals, fence);
        ApplicationRestart restart = ApplicationRestart.of(context);
        if (restart != null) {
            restart.leased();
        }
        ireeClusterScheduler.scheduleWithFixedDelay(keeper::look, duration.dividedBy(LOOKS_PER_LEASE));
        return keeper;
    }

    @Bean
    @ConditionalOnMissingBean
    SchedulingDomain ireeSchedulingDomain(LeaseKeeper lease, IreeProperties properties) {
        NodeIdentity identity = lease.identity();
        return SchedulingDomain.create(
                AxisAllocator.create(identity.session(), identity.machine()),
                FrontierTracker.create(),
                properties.advanced().frontier().capacity());
    }

    @Bean
    @ConditionalOnMissingBean
    ClusterMembership ireeClusterMembership(ClusterSettings settings) {
        return new HeartbeatMembership(settings.membership());
    }

    @Bean
    @ConditionalOnMissingBean
    ClusterListener ireeClusterListener(LeaseKeeper lease, IreeEvents events, ApplicationEventPublisher publisher) {
        return new ClusterPublisher(
                lease.identity(), events, publisher, new SimpleAsyncTaskExecutor("iree-cluster-event-"));
    }

    /** A single thread, so views are handled in order. */
    @Bean(destroyMethod = "shutdown")
    @ConditionalOnMissingBean(name = "ireeClusterExecutor")
    ExecutorService ireeClusterExecutor() {
        return Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("iree-cluster-view").factory());
    }

    /** Devices of other nodes are opened when programs are loaded on such devices, possibly before the application has started. */
    @Bean
    @ConditionalOnMissingBean(name = "ireeClusterDevices")
    IreeDeviceCustomizer ireeClusterDevices(
            ObjectProvider<ClusterNode> node,
            ObjectProvider<ClusterLifecycle> lifecycle,
            IreeClusterProperties properties) {
        ClusterDevices devices = new ClusterDevices(
                () -> {
                    lifecycle.getObject().join();
                    return node.getObject();
                },
                properties.data().connectTimeout());
        return (_, options) -> options.with(devices);
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeProgramReloads")
    ProgramReloads ireeProgramReloads(ObjectProvider<Programs> programs, IreeProperties properties, IreeEvents events) {
        SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("iree-cluster-reload-");
        executor.setDaemon(true);
        return new ProgramReloads(programs, properties, events, executor);
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    ClusterNode ireeClusterNode(
            LeaseKeeper lease,
            IreeRuntime runtime,
            SchedulingDomain domain,
            IreeClusterProperties properties,
            ClusterSettings settings,
            ClusterMembership membership,
            ClusterListener listener,
            ProgramReloads reloads,
            ExecutorService ireeClusterExecutor,
            Fence fence,
            ObjectProvider<RemoteTracer> tracer) {
        SimpleAsyncTaskExecutor slow = new SimpleAsyncTaskExecutor("iree-cluster-work-");
        slow.setDaemon(true);
        RemoteNode.Builder builder = RemoteNode.builder(lease.identity(), domain)
                .options(settings.remote())
                .executor(slow)
                .tracer(tracer.getIfUnique(() -> RemoteTracer.NONE));
        devices(runtime, properties.serve())
                .forEach(device -> builder.device(runtime.monitor().devices().nameOf(device), device));
        ClusterNode node = new ClusterNode(
                lease.identity(),
                builder,
                settings.transport(),
                membership,
                settings.host(),
                settings.grace(),
                System::nanoTime,
                ireeClusterExecutor,
                listener,
                reloads.listener());
        fence.attach(node);
        return node;
    }

    private static List<Device> devices(IreeRuntime runtime, List<String> names) {
        if (names.isEmpty()) {
            return runtime.devices();
        }
        DeviceMonitor devices = runtime.monitor().devices();
        for (String name : names) {
            if (!devices.names().contains(name) || devices.isRemote(name)) {
                throw ClusterSettings.invalid(
                        "serve",
                        names,
                        "Devices of this node are %s."
                                .formatted(devices.names().stream()
                                        .filter(each -> !devices.isRemote(each))
                                        .toList()));
            }
        }
        return names.stream().map(runtime::device).toList();
    }

    @Bean
    @ConditionalOnMissingBean(name = "ireeClusterLifecycle")
    ClusterLifecycle ireeClusterLifecycle(
            ClusterNode node,
            LeaseKeeper lease,
            IreeRuntime runtime,
            SimpleAsyncTaskScheduler ireeClusterScheduler,
            IreeClusterProperties properties,
            ConfigurableApplicationContext context) {
        Duration phase = Binder.get(context.getEnvironment())
                .bind("spring.lifecycle.timeout-per-shutdown-phase", Duration.class)
                .orElse(Duration.ofSeconds(30)); // Spring Boot's own default
        return new ClusterLifecycle(
                node,
                lease,
                runtime,
                ireeClusterScheduler,
                properties.failureDetection().interval(),
                properties.data().connectTimeout(),
                phase.multipliedBy(2).dividedBy(3), // leaving takes a part
                context,
                whenFenced(properties.onFence(), node, context, phase));
    }

    /** Returns the action on fencing, besides refusing traffic. */
    private static Runnable whenFenced(
            OnFence action, ClusterNode node, ConfigurableApplicationContext context, Duration phase) {
        ApplicationRestart restart = ApplicationRestart.of(context);
        if (action == OnFence.RESTART && restart != null) {
            restart.watch(() -> node.fenced().isPresent(), phase.multipliedBy(2));
        }
        return switch (action) {
            case RESTART -> () -> restart(restart, context);
            case SHUTDOWN -> () -> shutdown(context);
            case REFUSE_TRAFFIC -> () -> {};
        };
    }

    private static void restart(@Nullable ApplicationRestart restart, ConfigurableApplicationContext context) {
        String obstacle = restart == null ? "no SpringApplication made its context" : restart.obstacle();
        if (restart != null && obstacle == null) {
            restart.restart();
        } else {
            log.warn("the application closes, and does not start again by itself: {}", obstacle);
            shutdown(context);
        }
    }

    private static void shutdown(ConfigurableApplicationContext context) {
        AvailabilityChangeEvent.publish(context, LivenessState.BROKEN); // also for an application hanging on close
        Thread.ofPlatform().name("iree-cluster-shutdown").start(context::close);
    }
}

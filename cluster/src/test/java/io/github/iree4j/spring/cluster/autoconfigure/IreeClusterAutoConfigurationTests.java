package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.ClusterListener;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.cluster.identity.FakeKubernetes;
import io.github.iree4j.cluster.identity.IdentityLease;
import io.github.iree4j.cluster.identity.IdentityStore;
import io.github.iree4j.cluster.identity.JdbcIdentityStore;
import io.github.iree4j.cluster.identity.KubernetesIdentityStore;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import io.github.iree4j.cluster.identity.MemoryIdentityStore;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.cluster.membership.MemoryMembership;
import io.github.iree4j.cluster.transport.TestCertificates;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.RemoteTracer;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.actuate.endpoint.IreeEndpoint;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.endpoint.IreeEndpointAutoConfiguration;
import io.github.iree4j.spring.cluster.ClusterDescriptor;
import io.github.iree4j.spring.cluster.ClusterHealthIndicator;
import io.github.iree4j.spring.cluster.observation.ClusterTracer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

@ExtendWith(OutputCaptureExtension.class)
class IreeClusterAutoConfigurationTests {

    @TempDir
    private Path directory;

    private final ApplicationContextRunner alone = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    ApplicationAvailabilityAutoConfiguration.class,
                    SslAutoConfiguration.class,
                    IreeAutoConfiguration.class,
                    IreeEndpointAutoConfiguration.class,
                    IreeClusterAutoConfiguration.class,
                    IreeClusterEndpointAutoConfiguration.class,
                    IreeClusterHealthAutoConfiguration.class,
                    IreeClusterMetricsAutoConfiguration.class,
                    IreeClusterObservationAutoConfiguration.class));
    private final ApplicationContextRunner runner = alone.withPropertyValues(
            "iree.cluster.enabled=true", "iree.cluster.identity.machine=3", "iree.cluster.bind.port=" + ports());

    private ApplicationContextRunner node() {
        return runner.withPropertyValues("iree.cluster.identity.file=" + directory.resolve("identity"));
    }

    private static int ports() {
        return FreePorts.from(20_000 + (int) (ProcessHandle.current().pid() % 10_000));
    }

    @Test
    void withoutThePropertyThereIsNoNode() {
        Set<Thread> before = Thread.getAllStackTraces().keySet(); // programs of other tests may still end
        alone.run(context -> {
            assertThat(context).doesNotHaveBean(ClusterNode.class).doesNotHaveBean(IdentityStore.class);
            assertThat(context.getBean(SchedulingDomain.class)).isSameAs(SchedulingDomain.ofProcess());
            assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> !before.contains(thread))
                    .noneMatch(thread -> thread.getName().startsWith("iree-cluster"));
        });
    }

    @Test
    void withoutGrpcThereIsNoNode() {
        node().withClassLoader(new FilteredClassLoader("io.grpc"))
                .run(context -> assertThat(context).doesNotHaveBean("ireeClusterNode"));
    }

    @Test
    void axesHaveTheMachineAndSessionOfTheLease() {
        for (int session = 1; session <= 2; session++) {
            int expected = session;
            node().run(context -> {
                assertThat(context).hasNotFailed();
                assertThat(context.getBean(LeaseKeeper.class).identity().session())
                        .isEqualTo(expected);
                long axis = context.getBean(io.github.iree4j.IreeRuntime.class)
                        .device()
                        .queue(0)
                        .axis();
                assertThat(Axis.machine(axis)).isEqualTo(3);
                assertThat(Axis.session(axis)).isEqualTo(expected);
            });
        }
    }

    @Test
    void aNegativeTimeOfInterruptionsIsRefused() {
        node().withPropertyValues("iree.cluster.data.resume-timeout=-1s")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("iree.cluster.data.resume-timeout"));
    }

    @Test
    void aTimeTooShortToConnectIsRefused() {
        for (String time : List.of("0s", "-1s")) {
            node().withPropertyValues("iree.cluster.data.connect-timeout=" + time)
                    .run(context -> assertThat(context)
                            .getFailure()
                            .rootCause()
                            .hasMessageContaining("iree.cluster.data.connect-timeout"));
        }
    }

    @Test
    void theEndpointHealthAndMetersShowTheNode() {
        node().withBean(SimpleMeterRegistry.class)
                .withPropertyValues("management.endpoints.web.exposure.include=iree")
                .run(context -> {
                    IreeEndpoint endpoint = context.getBean(IreeEndpoint.class);
                    ClusterDescriptor cluster = (ClusterDescriptor) endpoint.part("cluster", null, null);
                    assertThat(cluster.self().machine()).isEqualTo(3);
                    assertThat(cluster.lease().state()).isEqualTo(LeaseKeeper.State.HELD);
                    assertThat(cluster.members())
                            .singleElement()
                            .satisfies(member -> assertThat(member.state()).isEqualTo("self"));
                    assertThat(endpoint.iree().selectors()).contains("cluster");
                    Health health =
                            context.getBean(ClusterHealthIndicator.class).health();
                    assertThat(health.getStatus()).isEqualTo(Status.UP);
                    // with the default, a database may be away for half a minute: the time for a failover
                    assertThat((Duration) health.getDetails().get("fencedWithoutRenewalIn"))
                            .isBetween(Duration.ofSeconds(30), Duration.ofSeconds(50));
                    SimpleMeterRegistry registry = context.getBean(SimpleMeterRegistry.class);
                    context.getBean(io.github.iree4j.spring.cluster.ClusterMetrics.class)
                            .bindTo(registry);
                    assertThat(registry.get("iree.cluster.members").gauge().value())
                            .isEqualTo(1);
                    assertThat(registry.get("iree.cluster.fenced").gauge().value())
                            .isZero();
                });
    }

    @Test
    void tracesAreFollowedWhereThereIsATracer() {
        node().run(context -> assertThat(context.getBean(RemoteTracer.class)).isSameAs(RemoteTracer.NONE));
        ApplicationContextRunner traced = node().withBean(Tracer.class, () -> Tracer.NOOP)
                .withBean(ObservationRegistry.class, ObservationRegistry::create);
        traced.run(context -> assertThat(context.getBean(RemoteTracer.class)).isInstanceOf(ClusterTracer.class));
        traced.withClassLoader(new FilteredClassLoader("io.micrometer.tracing"))
                .run(context ->
                        assertThat(context).hasSingleBean(ClusterNode.class).doesNotHaveBean(RemoteTracer.class));
        alone.withBean(Tracer.class, () -> Tracer.NOOP)
                .run(context -> assertThat(context).doesNotHaveBean(RemoteTracer.class));
    }

    @Test
    void plainTextOffLoopbackIsRefusedHoweverTheAddressIsWritten() {
        for (String address : List.of(
                "0.0.0.0", "0", "::", "[::]", "0:0::0", "::ffff:0.0.0.0", "::127.0.0.1", "10.1.2.3", "fd00::2")) {
            node().withPropertyValues("iree.cluster.bind.address=" + address, "iree.cluster.advertise=localhost")
                    .run(context -> assertThat(context)
                            .as(address)
                            .getFailure()
                            .rootCause()
                            .hasMessageContaining("iree.cluster.ssl.bundle")
                            .hasMessageContaining("iree.cluster.insecure=true"));
        }
    }

    @Test
    void aBundleWithoutAKeyIsRefused() {
        TestCertificates.tls(new TestCertificates(directory).issue("node", "ip:127.0.0.1"));
        for (String store : List.of("keystore", "truststore")) {
            ApplicationContextRunner with = node().withPropertyValues(
                            "iree.cluster.ssl.bundle=nodes",
                            "spring.ssl.bundle.jks.nodes.%s.location=file:%s"
                                    .formatted(store, directory.resolve("node.p12")),
                            "spring.ssl.bundle.jks.nodes.%s.password=%s".formatted(store, TestCertificates.PASSWORD));
            if (store.equals("keystore")) {
                with.run(context -> assertThat(context).hasNotFailed());
            } else {
                fails(with, "has no key");
            }
        }
    }

    @Test
    void aNodeWithoutAnIdentityIsToldWhy() throws IOException {
        Files.writeString(directory.resolve("identity"), "of something else");
        node().run(context -> {
            FailureAnalysis analysis = new NoIdentityFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription())
                    .contains("DATA_LOSS; identity file '" + directory.resolve("identity") + "'");
        });
        runner.run(context -> assertThat(new NoIdentityFailureAnalyzer().analyze(context.getStartupFailure()))
                .as("of a property")
                .isNull());
    }

    @Test
    void aMissingBundleIsNamed() {
        node().withPropertyValues("iree.cluster.ssl.bundle=nodes")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("iree.cluster.ssl.bundle")
                        .hasMessageContaining("nodes"));
    }

    @Test
    void anEmptyBundleIsNone() {
        node().withPropertyValues("iree.cluster.ssl.bundle=")
                .run(context -> assertThat(context).hasSingleBean(ClusterNode.class));
        node().withPropertyValues(
                        "iree.cluster.ssl.bundle=",
                        "iree.cluster.bind.address=0.0.0.0",
                        "iree.cluster.advertise=node1.example")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("without TLS any of them could run programs here"));
    }

    @Test
    void aFileIsNeededToCountSessions() {
        runner.run(context ->
                assertThat(context).getFailure().rootCause().hasMessageContaining("iree.cluster.identity.file"));
    }

    @Test
    void emptyTextsAreNone() {
        node().withPropertyValues("iree.cluster.advertise=")
                .run(context -> assertThat(context).hasNotFailed());
        fails(runner.withPropertyValues("iree.cluster.identity.file="), "iree.cluster.identity.file");
        fails(
                node().withPropertyValues("iree.cluster.discovery.type=dns", "iree.cluster.discovery.dns="),
                "iree.cluster.discovery.dns");
    }

    @Test
    void allAddressesNeedAHostForTheOthers() {
        ApplicationContextRunner everywhere =
                node().withPropertyValues("iree.cluster.bind.address=0.0.0.0", "iree.cluster.insecure=true");
        fails(everywhere, "'iree.cluster.advertise'");
        everywhere
                .withPropertyValues("iree.cluster.advertise=localhost")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void aPortInUseIsNamedWithTheProperty() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            node().withPropertyValues("iree.cluster.bind.port=" + taken.getLocalPort())
                    .run(context -> {
                        FailureAnalysis analysis =
                                new CannotListenFailureAnalyzer().analyze(context.getStartupFailure());
                        assertThat(analysis.getDescription()).contains("127.0.0.1 port " + taken.getLocalPort());
                        assertThat(analysis.getAction()).contains("'iree.cluster.bind.port'");
                    });
        }
        runner.run(context -> assertThat(new CannotListenFailureAnalyzer().analyze(context.getStartupFailure()))
                .as("of another failure")
                .isNull());
    }

    @Test
    void aFileUsedByAnotherNodeIsNamedWithItsHolderAndTheRemedy() {
        node().run(_ -> node().run(context -> {
            FailureAnalysis analysis = new IdentityInUseFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).contains(directory.resolve("identity") + ", held by this process");
            assertThat(analysis.getAction())
                    .contains("'iree.cluster.identity.file'", "'iree.cluster.identity.machine'");
        }));
        runner.run(context -> assertThat(new IdentityInUseFailureAnalyzer().analyze(context.getStartupFailure()))
                .as("of another failure")
                .isNull());
        assertThat(SpringFactoriesLoader.forDefaultResourceLocation()
                        .load(FailureAnalyzer.class, FailureHandler.handleMessage((_, _) -> {})))
                .hasAtLeastOneElementOfType(CannotListenFailureAnalyzer.class)
                .hasAtLeastOneElementOfType(IdentityInUseFailureAnalyzer.class)
                .hasAtLeastOneElementOfType(NoIdentityFailureAnalyzer.class);
    }

    @Test
    void theEndOfAHostNameIsTheMachineIndex() {
        alone.withPropertyValues(
                        "iree.cluster.enabled=true",
                        "iree.cluster.bind.port=" + ports(),
                        "iree.cluster.identity.file=" + directory.resolve("identity"),
                        "HOSTNAME=inference-12")
                .run(context -> assertThat(
                                context.getBean(LeaseKeeper.class).identity().machine())
                        .isEqualTo(12));
    }

    @Test
    void sessionsMayBeCountedInADatabase(CapturedOutput output) {
        JdbcDataSource database = new JdbcDataSource();
        database.setURL("jdbc:h2:mem:cluster;DB_CLOSE_DELAY=-1");
        runner.withBean(JdbcDataSource.class, () -> database)
                .withPropertyValues("iree.cluster.identity.type=jdbc")
                .run(context -> {
                    assertThat(context).hasSingleBean(JdbcIdentityStore.class);
                    assertThat(context.getBean(LeaseKeeper.class).identity().machine())
                            .isZero();
                    assertThat(output)
                            .contains(
                                    "'iree.cluster.identity.machine=3' has no effect: with 'iree.cluster.identity.type=jdbc'");
                });
    }

    @Test
    void sessionsMayBeCountedInLeasesOfKubernetes() throws Exception {
        try (FakeKubernetes kubernetes = new FakeKubernetes()) {
            for (int session = 1; session <= 2; session++) {
                int expected = session;
                runner.withPropertyValues(
                                "iree.cluster.identity.type=kubernetes",
                                "iree.cluster.identity.machines=1",
                                "iree.cluster.identity.kubernetes.server=" + kubernetes.uri(),
                                "iree.cluster.identity.kubernetes.namespace=" + FakeKubernetes.NAMESPACE)
                        .run(context -> {
                            assertThat(context).hasSingleBean(KubernetesIdentityStore.class);
                            assertThat(context.getBean(LeaseKeeper.class)
                                            .identity()
                                            .session())
                                    .isEqualTo(expected);
                        });
            }
        }
    }

    @Test
    void missingPartsOfStoresAreNamed() {
        ApplicationContextRunner kubernetes = runner.withPropertyValues(
                "iree.cluster.identity.type=kubernetes", "iree.cluster.identity.kubernetes.server=https://127.0.0.1:1");
        fails(kubernetes, "iree.cluster.identity.kubernetes.namespace");
        fails(kubernetes.withClassLoader(new FilteredClassLoader("tools.jackson")), "spring-boot-starter-jackson");
    }

    private static void fails(ApplicationContextRunner runner, String because) {
        runner.run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining(because));
    }

    /** Like a database that accepts connections and never answers. */
    @Test
    @Timeout(120)
    void aHangingStoreDoesNotKeepTheApplicationFromClosing() {
        MemoryIdentityStore store = new MemoryIdentityStore(1, 1, System::nanoTime);
        CountDownLatch answers = new CountDownLatch(1);
        AtomicBoolean released = new AtomicBoolean();
        IdentityStore hanging = duration -> new IdentityLease() {
            private final IdentityLease lease = store.acquire(duration);

            @Override
            public NodeIdentity identity() {
                return lease.identity();
            }

            @Override
            public void renew() {
                lease.renew();
            }

            @Override
            public void release() {
                try {
                    answers.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                released.set(true);
            }
        };
        runner.withBean(IdentityStore.class, () -> hanging)
                .withBean(ClusterMembership.class, () -> new MemoryMembership(new MemoryMembership.Network()))
                .withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=3s")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(released).as("it ends by itself").isFalse();
        answers.countDown();
    }

    @Test
    void aLostLeaseRefusesTrafficAndClosesAnApplicationWithoutASpringApplication(CapturedOutput output) {
        CountDownLatch closed = new CountDownLatch(1);
        MemoryIdentityStore store = new MemoryIdentityStore(1, 1, System::nanoTime);
        ApplicationListener<ContextClosedEvent> listener = _ -> closed.countDown();
        runner.withBean(MemoryIdentityStore.class, () -> store)
                .withBean(ClusterMembership.class, () -> new MemoryMembership(new MemoryMembership.Network()))
                .withPropertyValues("iree.cluster.identity.lease-duration=3s")
                .withInitializer(context -> context.addApplicationListener(listener))
                .run(context -> {
                    ApplicationAvailability availability = context.getBean(ApplicationAvailability.class);
                    ClusterNode node = context.getBean(ClusterNode.class);
                    IreeEvents events = context.getBean(IreeEvents.class);
                    AvailabilityChangeEvent.publish(context, LivenessState.CORRECT); // like a starting application
                    store.fail(IreeException.of(StatusCode.ABORTED, "granted to another"));
                    assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
                    assertThat(availability.getReadinessState()).isEqualTo(ReadinessState.REFUSING_TRAFFIC);
                    assertThat(availability.getLivenessState())
                            .as("an orchestrator restarts it, also if closing takes for ever")
                            .isEqualTo(LivenessState.BROKEN);
                    assertThat(node.fenced().orElseThrow()).hasMessageContaining("granted to another");
                    assertThat(output)
                            .contains("does not start again by itself: no SpringApplication made its context");
                    assertThat(events.since(0, 100))
                            .anyMatch(event -> event.type().equals("cluster.fenced"));
                });
    }

    @Test
    void aNodeOnlyRefusingTrafficStaysAlive() throws InterruptedException {
        CountDownLatch refused = new CountDownLatch(1);
        MemoryIdentityStore store = new MemoryIdentityStore(1, 1, System::nanoTime);
        ApplicationListener<AvailabilityChangeEvent<?>> listener = change -> {
            if (change.getState() == ReadinessState.REFUSING_TRAFFIC) {
                refused.countDown();
            }
        };
        runner.withBean(MemoryIdentityStore.class, () -> store)
                .withBean(ClusterMembership.class, () -> new MemoryMembership(new MemoryMembership.Network()))
                .withPropertyValues("iree.cluster.identity.lease-duration=3s", "iree.cluster.on-fence=refuse-traffic")
                .withInitializer(context -> context.addApplicationListener(listener))
                .run(context -> {
                    AvailabilityChangeEvent.publish(context, LivenessState.CORRECT); // like a starting application
                    store.fail(IreeException.of(StatusCode.ABORTED, "granted to another"));
                    assertThat(refused.await(30, TimeUnit.SECONDS)).isTrue();
                    assertThat(context.getBean(ApplicationAvailability.class).getLivenessState())
                            .isEqualTo(LivenessState.CORRECT);
                    assertThat(context.getBean(ClusterHealthIndicator.class)
                                    .health()
                                    .getStatus())
                            .isEqualTo(Status.DOWN);
                    assertThat(context.getSourceApplicationContext().isActive()).isTrue();
                });
    }

    @Test
    void nodesWithCertificatesOfTheSameAuthorityMeet() throws Exception {
        TestCertificates authority = new TestCertificates(directory);
        Path store = authority.issue("node", "ip:127.0.0.1");
        int first = ports();
        String[] common = {
            "iree.cluster.enabled=true",
            "iree.cluster.ssl.bundle=nodes",
            "spring.ssl.bundle.jks.nodes.keystore.location=" + store.toUri(),
            "spring.ssl.bundle.jks.nodes.keystore.password=" + TestCertificates.PASSWORD,
            "spring.ssl.bundle.jks.nodes.truststore.location=" + store.toUri(),
            "spring.ssl.bundle.jks.nodes.truststore.password=" + TestCertificates.PASSWORD,
            "iree.cluster.discovery.static=127.0.0.1:" + first
        };
        CountDownLatch connected = new CountDownLatch(2); // one of each
        CountDownLatch drained = new CountDownLatch(1);
        ClusterListener listener = new ClusterListener() {
            @Override
            public void draining(long incarnation, IreeException reason) {
                assertThat(reason).hasMessageContaining("the application stops");
                drained.countDown();
            }

            @Override
            public void connected(ClusterMember peer) {
                connected.countDown();
            }
        };
        ApplicationContextRunner nodes =
                alone.withBean(ClusterListener.class, () -> listener).withPropertyValues(common);
        nodes.withPropertyValues(
                        "iree.cluster.bind.port=" + first,
                        "iree.cluster.identity.machine=0",
                        "iree.cluster.identity.file=" + directory.resolve("0"))
                .run(one -> {
                    nodes.withPropertyValues(
                                    "iree.cluster.bind.port=" + (first + 3),
                                    "iree.cluster.identity.machine=1",
                                    "iree.cluster.identity.file=" + directory.resolve("1"))
                            .run(two -> {
                                assertThat(two).hasNotFailed();
                                assertThat(connected.await(30, TimeUnit.SECONDS))
                                        .isTrue();
                                assertThat(two.getBean(ClusterNode.class).peers())
                                        .singleElement()
                                        .satisfies(peer ->
                                                assertThat(peer.session()).isNotNull());
                                assertThat(one.getBean(ClusterNode.class).view().members())
                                        .hasSize(2);
                            });
                    assertThat(drained.await(30, TimeUnit.SECONDS))
                            .as("the first node hears of the second's stop")
                            .isTrue();
                });
        assertThat(Files.readString(directory.resolve("1"))).contains("session=1");
    }
}

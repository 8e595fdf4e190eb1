package io.github.iree4j.cluster.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.ManualClock;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

class KubernetesIdentityStoreTests extends IdentityStoreContract {
    private static final String MACHINE_0 = "iree-machine-0-test";
    private static final String CLUSTER = "iree-cluster-test";
    private static final String COUNTS = "io.github.iree4j/sessions";
    private static final InstantSource NOON = InstantSource.fixed(Instant.parse("2026-01-01T12:00:00Z"));

    @TempDir
    private Path directory;

    private final FakeKubernetes kubernetes;
    private final ManualClock clock = new ManualClock();
    private final List<IdentityLease> alive = new ArrayList<>(); // renewed by the holders while time passes

    KubernetesIdentityStoreTests() throws IOException {
        kubernetes = new FakeKubernetes();
    }

    @AfterEach
    void stop() {
        kubernetes.close();
    }

    private KubernetesOptions options() {
        return KubernetesOptions.of(kubernetes.uri(), FakeKubernetes.NAMESPACE);
    }

    private KubernetesIdentityStore store(KubernetesOptions options, int machines) {
        return new KubernetesIdentityStore(options, "test", machines, "pod-1", clock, NOON, this::pass);
    }

    /** Time goes by; living holders renew often enough. */
    private void pass(long nanos) {
        long left = nanos;
        while (left > 0) {
            long step = Math.min(left, LEASE.dividedBy(3).toNanos());
            clock.advance(Duration.ofNanos(step));
            left -= step;
            alive.forEach(IdentityLease::renew);
        }
    }

    @Override
    IdentityStore open() {
        KubernetesIdentityStore store = store(options(), machines());
        return duration -> {
            IdentityLease lease = store.acquire(duration);
            IdentityLease watched = new IdentityLease() {
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
                    alive.remove(this);
                    lease.release();
                    store.close();
                }
            };
            alive.add(watched);
            return watched;
        };
    }

    @Override
    int machines() {
        return 2;
    }

    @Override
    void letEnd(IdentityLease lease) {
        alive.remove(lease);
        pass(LEASE.toNanos());
    }

    private ObjectNode lease(String name) {
        ObjectNode found = kubernetes.lease(name);
        assertThat(found).as(name).isNotNull();
        return found;
    }

    @Test
    void nodesStartedAtOnceGetDifferentSlots() throws Exception {
        int nodes = 8;
        Set<Integer> machines = new HashSet<>();
        Set<Long> incarnations = new HashSet<>();
        Set<Long> clusters = new HashSet<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(nodes)) {
            List<Callable<NodeIdentity>> starts = new ArrayList<>();
            for (int i = 0; i < nodes; i++) {
                starts.add(() -> store(options(), nodes).acquire(LEASE).identity());
            }
            for (Future<NodeIdentity> each : threads.invokeAll(starts)) {
                machines.add(each.get().machine());
                incarnations.add(each.get().incarnation());
                clusters.add(each.get().clusterId());
                assertThat(each.get().session()).isOne(); // a lost race costs no session
            }
        }
        assertThat(machines).hasSize(nodes);
        assertThat(incarnations).hasSize(nodes);
        assertThat(clusters).hasSize(1);
    }

    @Test
    void aLeaseIsWrittenAsReadByOthers() {
        store(options(), 1).acquire(Duration.ofMillis(2500));
        JsonNode spec = lease(MACHINE_0).path("spec");
        assertThat(spec.path("holderIdentity").stringValue()).startsWith("pod-1/");
        assertThat(spec.path("leaseDurationSeconds").intValue()).isEqualTo(3);
        assertThat(spec.path("renewTime").stringValue()).isEqualTo("2026-01-01T12:00:00.000000Z");
        assertThat(spec.path("leaseTransitions").intValue()).isOne();
    }

    @Test
    void othersFieldsInALeaseStay() {
        IdentityLease held = store(options(), 1).acquire(LEASE);
        ObjectNode changed = lease(MACHINE_0).deepCopy();
        changed.withObject("metadata").withObject("labels").put("team", "blue");
        kubernetes.put(MACHINE_0, changed);
        held.renew();
        assertThat(lease(MACHINE_0).path("metadata").path("labels").path("team").asString())
                .isEqualTo("blue");
    }

    @Test
    void clocksOfOtherMachinesDoNotMatter() {
        IdentityLease held = store(options(), 1).acquire(LEASE);
        ObjectNode old = lease(MACHINE_0).deepCopy();
        old.withObject("spec").put("renewTime", "1999-01-01T00:00:00.000000Z");
        kubernetes.put(MACHINE_0, old);
        alive.add(held);
        assertThat(failure(() -> store(options(), 1).acquire(LEASE)).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        held.renew();
    }

    @Test
    void aDeadHolderIsFollowedAfterItsLeaseAsSeenFromHere() {
        IdentityLease first = store(options(), 1).acquire(LEASE);
        long before = clock.getAsLong();
        IdentityLease next = store(options(), 1).acquire(LEASE);
        assertThat(next.identity().session()).isEqualTo(2);
        assertThat(clock.getAsLong() - before).isGreaterThanOrEqualTo(LEASE.toNanos());
        assertThat(failure(first::renew).code()).isEqualTo(StatusCode.ABORTED);
        next.renew();
    }

    @Test
    void aRenewalWithALostAnswerDoesNotEndTheLease() {
        IdentityLease held = store(options(), 1).acquire(LEASE);
        kubernetes.fault = exchange -> {
            if (exchange.getRequestMethod().equals("PUT")) {
                kubernetes.put(
                        MACHINE_0,
                        lease(MACHINE_0).deepCopy()); // done, like a request with a broken connection afterwards
                exchange.close();
                return true;
            }
            return false;
        };
        assertThat(failure(held::renew).code()).isEqualTo(StatusCode.UNAVAILABLE);
        kubernetes.fault = exchange -> false;
        held.renew();
    }

    @Test
    void aDeletedMachineFencesItsHolderAndKeepsItsCount() {
        IdentityLease held = store(options(), 1).acquire(LEASE);
        kubernetes.remove(MACHINE_0);
        assertThat(failure(held::renew).code()).isEqualTo(StatusCode.ABORTED);
        assertThat(store(options(), 1).acquire(LEASE).identity().session()).isEqualTo(2);
    }

    @Test
    void aDeletedClusterIsAnotherCluster() {
        NodeIdentity old = store(options(), 2).acquire(LEASE).identity();
        kubernetes.remove(CLUSTER);
        NodeIdentity other = store(options(), 2).acquire(LEASE).identity();
        assertThat(other.clusterId()).isNotEqualTo(old.clusterId());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "2 0123456789abcdef 1 1",
                "1 0123456789abcdef 1 256",
                "1 0123456789abcdef 99999999999999999999 1",
                "1 0123456789abcdef 1 1 ",
                "1 xyz 1 1"
            })
    void damagedCountsGrantNothing(String counts) {
        store(options(), 2).acquire(LEASE);
        ObjectNode damaged = lease(CLUSTER).deepCopy();
        damaged.withObject("metadata").withObject("annotations").put(COUNTS, counts);
        kubernetes.put(CLUSTER, damaged);
        IreeException failure = failure(() -> store(options(), 2).acquire(LEASE));
        assertThat(failure.code()).isEqualTo(StatusCode.DATA_LOSS);
        assertThat(failure).hasMessageContaining(CLUSTER).hasMessageContaining("iree.cluster.name");
    }

    @Test
    void aRefusalNamesTheRemedy() {
        kubernetes.fault = FakeKubernetes.Fault.of(403, "{\"message\":\"leases is forbidden\u0000\\u001b[31m\"}");
        IreeException failure = failure(() -> store(options(), 1).acquire(LEASE));
        assertThat(failure.code()).isEqualTo(StatusCode.PERMISSION_DENIED);
        assertThat(failure)
                .hasMessageContaining("get, list, create and update")
                .hasMessageContaining(FakeKubernetes.NAMESPACE)
                .hasMessageNotContaining("\u001b");
    }

    @Test
    void theTokenIsReadAgainAfterAChange() throws IOException {
        Path token = Files.writeString(directory.resolve("token"), "first\n");
        KubernetesOptions options =
                new KubernetesOptions(kubernetes.uri(), FakeKubernetes.NAMESPACE, token, null, Duration.ofSeconds(4));
        kubernetes.token = "first";
        IdentityLease held = store(options, 1).acquire(LEASE);
        kubernetes.token = "second";
        IreeException failure = failure(held::renew);
        assertThat(failure.code()).isEqualTo(StatusCode.UNAUTHENTICATED);
        assertThat(failure).hasMessageContaining(token.toString());
        Files.writeString(token, "second");
        held.renew();
        Files.writeString(token, "two\r\nlines");
        assertThat(failure(held::renew).code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        Files.delete(token);
        assertThat(failure(held::renew).code()).isEqualTo(StatusCode.UNAVAILABLE);
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 500, 502, 503, 504, 302})
    void troubleThatTimeMayMendIsUnavailable(int status) {
        IdentityLease held = store(options(), 1).acquire(LEASE);
        kubernetes.fault = FakeKubernetes.Fault.of(status, "<html>busy</html>");
        assertThat(failure(held::renew).code()).isEqualTo(StatusCode.UNAVAILABLE);
        kubernetes.fault = exchange -> false;
        held.renew();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "[]",
                "{",
                "{}",
                "{\"items\":7}",
                "{\"items\":[{}]}",
                "{\"items\":[{\"metadata\":{\"name\":\"iree-machine-0-test\",\"uid\":\"a\",\"resourceVersion\":7}}]}",
                "{\"items\":[{\"metadata\":{\"name\":7,\"uid\":\"a\",\"resourceVersion\":\"7\"}}]}",
                "{\"items\":[{\"metadata\":{\"name\":\"..\",\"uid\":\"a\",\"resourceVersion\":\"7\"}}]}",
                "{\"items\":[{\"metadata\":{\"name\":\"a b\",\"uid\":\"a\",\"resourceVersion\":\"7\"}}]}"
            })
    void senselessAnswersAreRefused(String body) {
        store(options(), 1).acquire(LEASE).release();
        kubernetes.fault = FakeKubernetes.Fault.of(200, body);
        assertThat(failure(() -> store(options(), 1).acquire(LEASE)).code()).isEqualTo(StatusCode.DATA_LOSS);
    }

    @Test
    void anAnswerWithDeepNestingIsRefused() {
        kubernetes.fault = FakeKubernetes.Fault.of(200, "[".repeat(1_000_000));
        assertThat(failure(() -> store(options(), 1).acquire(LEASE)).code()).isEqualTo(StatusCode.DATA_LOSS);
    }

    @Test
    void anEndlessAnswerIsCutOff() {
        AtomicInteger sent = new AtomicInteger();
        kubernetes.fault = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            byte[] block = new byte[1 << 16];
            try {
                while (sent.incrementAndGet() < 1000) {
                    exchange.getResponseBody().write(block);
                }
            } catch (IOException e) {
                // The client has had enough.
            }
            return true;
        };
        assertThat(failure(() -> store(options(), 1).acquire(LEASE)).code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(sent.get()).isLessThan(1000);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aServerWithoutATimelyAnswerIsUnavailable(boolean headersFirst) {
        CountDownLatch over = new CountDownLatch(1);
        kubernetes.fault = exchange -> {
            if (headersFirst) {
                exchange.sendResponseHeaders(200, 100);
                exchange.getResponseBody().write('{');
                exchange.getResponseBody().flush();
            }
            try {
                over.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return true;
        };
        KubernetesOptions hasty =
                new KubernetesOptions(kubernetes.uri(), FakeKubernetes.NAMESPACE, null, null, Duration.ofMillis(200));
        IreeException failure = failure(() -> store(hasty, 1).acquire(LEASE));
        over.countDown();
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("200 ms");
    }

    @Test
    void aLeaseForeverIsNotWaitedForForever() {
        store(options(), 1).acquire(LEASE);
        ObjectNode forever = lease(MACHINE_0).deepCopy();
        forever.withObject("spec").put("leaseDurationSeconds", Integer.MAX_VALUE);
        kubernetes.put(MACHINE_0, forever);
        long before = clock.getAsLong();
        assertThat(store(options(), 1).acquire(LEASE).identity().session()).isEqualTo(2);
        assertThat(clock.getAsLong() - before).isLessThan(Duration.ofHours(2).toNanos());
        assertThat(failure(() -> store(options(), 1).acquire(Duration.ofHours(2)))
                        .code())
                .isEqualTo(StatusCode.INVALID_ARGUMENT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://10.0.0.1:80", "ftp://127.0.0.1", "https:nothing", "kubernetes"})
    void aTokenIsNotSentAsPlainTextOrAnywhereElse(String server) {
        assertThat(failure(() -> KubernetesOptions.of(URI.create(server), "default"))
                        .code())
                .isEqualTo(StatusCode.INVALID_ARGUMENT);
    }

    @Test
    void aPodKnowsItsServer() throws IOException {
        Map<String, String> environment =
                Map.of("KUBERNETES_SERVICE_HOST", "fd00::1", "KUBERNETES_SERVICE_PORT", "443");
        IreeException failure = failure(() -> KubernetesOptions.ofPod(environment, directory));
        assertThat(failure.code()).isEqualTo(StatusCode.FAILED_PRECONDITION);
        assertThat(failure).hasMessageContaining("iree.cluster.identity.kubernetes.server");
        Files.writeString(directory.resolve("namespace"), "vision\n");
        KubernetesOptions options = KubernetesOptions.ofPod(environment, directory);
        assertThat(options.server()).isEqualTo(URI.create("https://[fd00::1]:443"));
        assertThat(options.namespace()).isEqualTo("vision");
        assertThat(options.token()).isEqualTo(directory.resolve("token"));
    }

    @Test
    void aFileWithoutCertificatesIsNamed() throws IOException {
        Path authorities = Files.writeString(directory.resolve("ca.crt"), "nothing");
        KubernetesOptions options = new KubernetesOptions(
                URI.create("https://127.0.0.1:1"), "vision", null, authorities, Duration.ofSeconds(1));
        IreeException failure = failure(() -> store(options, 1).acquire(LEASE));
        assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(failure).hasMessageContaining(authorities.toString());
    }

    @Test
    void aNameImpossibleInALeaseIsRefused() {
        IreeException failure = failure(() -> new KubernetesIdentityStore(options(), "My Cluster", 1, "pod"));
        assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(failure).hasMessageContaining("iree.cluster.name");
    }
}

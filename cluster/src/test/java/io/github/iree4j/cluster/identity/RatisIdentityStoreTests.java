package io.github.iree4j.cluster.identity;

import static io.github.iree4j.cluster.identity.IdentityStoreContract.LEASE;
import static io.github.iree4j.cluster.identity.IdentityStoreContract.failure;
import static io.github.iree4j.cluster.identity.RatisNodes.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RatisIdentityStoreTests {
    private static final Duration HASTE = Duration.ofSeconds(3);

    @TempDir
    private Path directory;

    /** As a keeper of leases does: a leader that has just been lost is followed within seconds. */
    private static void renewSoon(IdentityLease lease) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        for (; ; ) {
            try {
                lease.renew();
                return;
            } catch (IreeException e) {
                if (e.code() != StatusCode.UNAVAILABLE || System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
        }
    }

    @Test
    void sessionsGoOnWhenAllNodesWereStopped() throws Exception {
        try (RatisNodes nodes = new RatisNodes(directory)) {
            long last = 0;
            Long cluster = null;
            for (int session = 1; session <= 3; session++) {
                List<NodeIdentity> identities = nodes.leaseAll(LEASE).stream()
                        .map(IdentityLease::identity)
                        .toList();
                assertThat(identities.stream().map(NodeIdentity::machine)).containsExactly(0, 1, 2);
                assertThat(identities.stream().map(NodeIdentity::session)).containsOnly(session);
                assertThat(identities.stream().map(NodeIdentity::incarnation)).doesNotHaveDuplicates();
                long before = last;
                for (NodeIdentity each : identities) {
                    assertThat(each.incarnation()).isGreaterThan(before);
                    last = Math.max(last, each.incarnation());
                    cluster = cluster == null ? each.clusterId() : cluster;
                    assertThat(each.clusterId()).isEqualTo(cluster);
                }
                for (int node = 0; node < RatisNodes.COUNT; node++) {
                    nodes.restart(node, PATIENCE);
                }
            }
        }
    }

    @Test
    @Tag("nightly")
    void oneNodeMayBeLostWhicheverLeads() throws Exception {
        try (RatisNodes nodes = new RatisNodes(directory)) {
            nodes.leaseAll(LEASE).forEach(IdentityLease::release);
            for (int lost = 0; lost < RatisNodes.COUNT; lost++) {
                IdentityLease kept = nodes.get(lost + 1).acquire(LEASE);
                nodes.get(lost).close();
                renewSoon(kept);
                kept.release();
                IdentityLease next = nodes.get(lost + 2).acquire(LEASE);
                renewSoon(next);
                next.release();
                nodes.restart(lost, PATIENCE);
                IdentityLease back = nodes.get(lost).acquire(LEASE);
                assertThat(back.identity().session()).isGreaterThan(1);
                back.release();
            }
        }
    }

    /** A leader renews on its own for as long as no other can have been elected. */
    private static IreeException failureSoon(IdentityLease lease) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - deadline < 0) {
            try {
                lease.renew();
            } catch (IreeException e) {
                return e;
            }
        }
        throw new AssertionError("it is still renewed after " + PATIENCE);
    }

    @Test
    void aMinorityNeitherLeasesNorRenews() throws Exception {
        try (RatisNodes nodes = new RatisNodes(directory)) {
            nodes.leaseAll(LEASE).forEach(IdentityLease::release);
            IdentityLease held = nodes.get(0).acquire(LEASE);
            int session = held.identity().session();
            renewSoon(held);
            nodes.get(1).close();
            nodes.get(2).close();
            assertThat(failureSoon(held).code()).isEqualTo(StatusCode.UNAVAILABLE);
            nodes.restart(0, HASTE);
            IreeException failure = failure(() -> nodes.get(0).acquire(LEASE));
            assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(failure).hasMessageContaining("no majority");
            nodes.restart(1, PATIENCE);
            assertThat(nodes.get(1).acquire(LEASE).identity().machine()).isEqualTo(1);
            nodes.restart(0, PATIENCE);
            assertThat(nodes.get(0).acquire(LEASE).identity().session()).isGreaterThan(session);
        }
    }

    @Test
    void plainTextIsNotServedToOtherMachines() {
        List<InetSocketAddress> far = List.of(
                InetSocketAddress.createUnresolved("a", 1),
                InetSocketAddress.createUnresolved("b", 1),
                InetSocketAddress.createUnresolved("c", 1));
        IreeException failure = failure(() -> new RatisOptions("test", far, 0, directory, null, false, PATIENCE));
        assertThat(failure.code()).isEqualTo(StatusCode.FAILED_PRECONDITION);
        assertThat(failure).hasMessageContaining("iree.cluster.ssl.bundle");
        assertThat(new RatisOptions("test", far, 0, directory, null, true, PATIENCE).peers())
                .isEqualTo(far);
        IreeException few =
                failure(() -> new RatisOptions("test", far.subList(0, 2), 0, directory, null, true, PATIENCE));
        assertThat(few.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
    }

    @Test
    void aCommandThatMakesNoSenseChangesNothing() {
        SessionStateMachine machine = new SessionStateMachine();
        for (String command : List.of("", "grant", "grant 256 0000000000000000", "grant 1 zz", "take 1")) {
            assertThat(machine.apply(command)).isCompletedExceptionally();
        }
        assertThat(answer(machine, "grant 7 00000000000000ff")).isEqualTo("1 00000000000000ff 1 0 0 0 0 0 0 0 1");
        for (int session = 2; session <= 255; session++) {
            assertThat(answer(machine, "grant 7 0000000000000001")).contains("ff " + session);
        }
        assertThat(answer(machine, "grant 7 0000000000000001")).isEqualTo(SessionStateMachine.NOTHING);
    }

    private static String answer(SessionStateMachine machine, String command) {
        return machine.apply(command).join().getContent().toStringUtf8();
    }
}

package io.github.iree4j.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jgroups.Address;
import org.jgroups.View;
import org.jgroups.util.UUID;
import org.junit.jupiter.api.Test;

/** In one JVM, without a network. */
class JGroupsMembershipTests extends ClusterMembershipContract {

    private static final AtomicInteger GROUPS = new AtomicInteger();

    private final String group = "membership-" + GROUPS.incrementAndGet();

    @Override
    ClusterMembership node(int number) {
        return new JGroupsMembership(new GroupOptions(
                group,
                null,
                0,
                new GroupOptions.Discovery.Jvm(),
                Duration.ofSeconds(3),
                Duration.ofMillis(500),
                Duration.ofMillis(500),
                null));
    }

    @Test
    void aNodeThatWasPausedIsNoMemberOfTheGroupThatHasExcludedIt() {
        Address paused = UUID.randomUUID();
        Address two = UUID.randomUUID();
        Address three = UUID.randomUUID();
        View before = View.create(two, 5, two, three, paused);
        View since = View.create(two, 6, two, three);
        for (List<View> groups : List.of(List.of(before, since), List.of(since, before))) {
            assertThat(JGroupsMembership.disjoint(groups)).containsExactly(List.of(two, three), List.of(paused));
        }
    }

    @Test
    void aPortInUseIsUnavailable() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            JGroupsMembership membership = new JGroupsMembership(new GroupOptions(
                    group,
                    InetAddress.getLoopbackAddress(),
                    taken.getLocalPort(),
                    new GroupOptions.Discovery.Jvm(),
                    Duration.ofSeconds(3),
                    Duration.ofMillis(500),
                    Duration.ofMillis(500),
                    null));
            assertThatThrownBy(() -> membership.join(ClusterViewTests.member(1), _ -> {}))
                    .isInstanceOfSatisfying(IreeException.class, e -> {
                        assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE);
                        assertThat(e).hasMessageContaining(String.valueOf(taken.getLocalPort()));
                    });
            membership.leave();
        }
    }

    @Test
    void whenAnyCallThatLeavesReturnsThePortsAreFree() throws Exception {
        int port = FreePorts.three(29_000 + (int) (ProcessHandle.current().pid() % 900));
        GroupOptions options = new GroupOptions(
                group,
                InetAddress.getLoopbackAddress(),
                port,
                new GroupOptions.Discovery.Static(
                        List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))),
                Duration.ofSeconds(3),
                Duration.ofMillis(500),
                Duration.ofMillis(500),
                null);
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            for (int round = 0; round < 3; round++) {
                JGroupsMembership membership = new JGroupsMembership(options);
                membership.join(ClusterViewTests.member(1 + round), _ -> {});
                other.execute(membership::leave);
                membership.leave();
            }
        }
    }
}

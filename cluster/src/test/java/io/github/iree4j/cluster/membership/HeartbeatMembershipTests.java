package io.github.iree4j.cluster.membership;

import static io.github.iree4j.cluster.membership.ClusterViewTests.member;
import static io.github.iree4j.cluster.membership.ClusterViewTests.members;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.cluster.ManualClock;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Signs of life over a wire of the test; times are of a clock moved by the test, also the times of the contract. */
class HeartbeatMembershipTests extends ClusterMembershipContract {

    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Duration INTERVAL = Duration.ofMillis(500);

    private final ManualClock clock = new ManualClock();
    private final Map<Integer, Node> nodes = new TreeMap<>(); // by incarnation

    @Override
    ClusterMembership node(int number) {
        return new HeartbeatMembership(new MembershipOptions(places(1, 2, 3), TIMEOUT, Duration.ofMillis(20)));
    }

    private static MembershipOptions.Discovery places(int... machines) {
        return new MembershipOptions.Discovery.Static(Arrays.stream(machines)
                .mapToObj(each -> Wire.address(member(each)))
                .toList());
    }

    /** A node looking when the test says so. */
    private final class Node implements ClusterMembership.Listener {
        final ClusterMember member;
        final HeartbeatMembership membership;
        ClusterView view = ClusterView.EMPTY;
        int views;

        Node(ClusterMember member, MembershipOptions.Discovery discovery) {
            this.member = member;
            this.membership = new HeartbeatMembership(new MembershipOptions(discovery, TIMEOUT, INTERVAL), clock);
            nodes.put((int) member.identity().incarnation(), this);
            membership.begin(member, wire.add(member, membership), this);
        }

        @Override
        public void viewChanged(ClusterView next) {
            view = next;
            views++;
        }

        List<ClusterMember> sees() {
            return view.members();
        }
    }

    private Node start(int incarnation, int... places) {
        return new Node(member(incarnation), places(places));
    }

    /** Lets time pass for some nodes; the others are paused. */
    private void pass(Duration time, Collection<Node> running) {
        for (long left = time.toNanos(); left > 0; left -= INTERVAL.toNanos()) {
            clock.advance(INTERVAL);
            running.forEach(each -> each.membership.look());
        }
    }

    private void pass(Duration time) {
        pass(time, nodes.values());
    }

    @Test
    void nodesFindEachOtherThroughANodeOfTheListWithinTheFirstRound() {
        Node three = start(3);
        Node one = start(1, 3);
        Node two = start(2, 3);
        assertThat(two.sees()).as("learned from node 3").isEqualTo(members(1, 2, 3));
        assertThat(two.views).isEqualTo(1);
        assertThat(one.sees()).isEqualTo(members(1, 2, 3));
        assertThat(three.sees()).isEqualTo(members(1, 2, 3));
    }

    @Test
    void ofTwoNodesOnlyTheOlderSends() {
        int count = 8;
        int[] all = IntStream.rangeClosed(1, count).toArray();
        for (int each : all) {
            start(each, all);
        }
        pass(Duration.ofSeconds(10));
        wire.messages.set(0);
        pass(Duration.ofSeconds(10));
        assertThat(wire.messages.get()).isEqualTo(20L * count * (count - 1) / 2);
    }

    @Test
    void aSilentNodeLeavesTheViewAfterTheTimeoutAndComesBack() {
        Node one = start(1, 1, 2);
        Node two = start(2, 1, 2);
        wire.cut(one.member, two.member);
        wire.cut(two.member, one.member);
        pass(TIMEOUT);
        assertThat(one.sees()).isEqualTo(members(1, 2));
        pass(INTERVAL);
        assertThat(one.sees()).isEqualTo(members(1));
        assertThat(two.sees()).isEqualTo(members(2));
        wire.heal();
        pass(Duration.ofSeconds(6));
        assertThat(one.sees()).isEqualTo(members(1, 2));
        assertThat(two.sees()).isEqualTo(members(1, 2));
    }

    @Test
    void nodesSeeEachOtherIfEitherCanConnect() {
        Node one = start(1, 1, 2);
        Node two = start(2, 1, 2);
        for (int dialer = 1; dialer <= 2; dialer++) {
            wire.block(dialer == 1 ? two.member : one.member, dialer == 1 ? one.member : two.member);
            pass(Duration.ofSeconds(20));
            assertThat(one.sees()).isEqualTo(members(1, 2));
            assertThat(two.sees()).isEqualTo(members(1, 2));
            assertThat(one.membership.unreached()).isEmpty();
            assertThat(two.membership.unreached()).isEmpty();
            wire.heal();
        }
    }

    /** The paused node was silent, not the others. */
    @Test
    void aPausedNodeDropsNobody() {
        Node one = start(1, 1, 2, 3);
        Node two = start(2, 1, 2, 3);
        start(3, 1, 2, 3);
        pass(TIMEOUT);
        int views = two.views;
        List<Node> others = nodes.values().stream().filter(each -> each != two).toList();
        for (int pause = 0; pause < 5; pause++) {
            clock.advance(Duration.ofMinutes(1)); // nobody looks
            two.membership.look();
            pass(INTERVAL, others);
            pass(INTERVAL);
        }
        assertThat(two.views).isEqualTo(views);
        assertThat(one.sees()).isEqualTo(members(1, 2, 3));
    }

    @Test
    void aProcessTakingAnAddressReplacesTheFormerAtOnceAndForGood() {
        Node one = start(1, 1, 2);
        start(2, 1, 2);
        ClusterMember next = new ClusterMember(new NodeIdentity(-5, 2, 2, 9), "host2", 7600);
        nodes.remove(2);
        new Node(next, places(1));
        assertThat(one.sees()).containsExactly(member(1), next);
        one.membership.asked(member(2), new Heartbeat(false, 5, List.of(), Standing.PEACE).encode());
        pass(Duration.ofSeconds(10));
        assertThat(one.sees())
                .as("a late message of the former process changes nothing")
                .containsExactly(member(1), next);
    }

    @Test
    void aNodeAfterItsFarewellDoesNotComeBackWithALateMessage() {
        Node one = start(1, 1, 2);
        Node two = start(2, 1, 2);
        two.membership.leave();
        assertThat(one.sees()).isEqualTo(members(1));
        one.membership.asked(member(2), new Heartbeat(false, 5, List.of(), Standing.PEACE).encode());
        assertThat(one.sees()).isEqualTo(members(1));
    }

    /** A lost file of the identity grants a session again. */
    @Test
    void aLeftSessionComingAgainIsRefusedWithTheReason() {
        Node one = start(1, 1, 2);
        start(2, 1, 2).membership.leave();
        pass(TIMEOUT.plus(INTERVAL), List.of(one));
        Node again = start(2, 1);
        assertThat(one.sees()).isEqualTo(members(1));
        assertThat(again.sees()).isEqualTo(members(2));
        assertThat(again.membership.unreached()).singleElement().satisfies(each -> {
            assertThat(each.refuses()).isTrue();
            assertThat(each.cause()).contains("has left, and a slot is leased once");
        });
    }

    @Test
    void everyNodeKnowsTheOrderOfJoins() {
        Node two = start(2);
        pass(Duration.ofSeconds(30));
        Node one = start(1, 2);
        pass(Duration.ofSeconds(30));
        Node three = start(3, 2);
        pass(Duration.ofSeconds(1));
        for (Node each : List.of(one, two, three)) {
            assertThat(each.view.joinedAfter(1, 2)).isEqualTo(30_000_000_000L);
            assertThat(each.view.joinedAfter(2, 3)).isEqualTo(-60_000_000_000L);
            assertThat(each.view.joinedAfter(1, 99)).isZero();
        }
    }

    @Test
    void aSlowFirstSignOfLifeIsCorrectedByAFasterSign() {
        Node one = start(1);
        clock.advance(Duration.ofSeconds(100));
        one.membership.asked(member(2), new Heartbeat(false, 10_000, List.of(), Standing.PEACE).encode()); // took 20 s
        assertThat(one.view.joinedAfter(2, 1)).isEqualTo(90_000_000_000L);
        for (int age : new int[] {30_000, 29_900, 12_000}) {
            one.membership.asked(member(2), new Heartbeat(false, age, List.of(), Standing.PEACE).encode());
            assertThat(one.view.joinedAfter(2, 1)).isEqualTo(70_000_000_000L);
        }
    }

    /** Certificates name hosts: a node of another host has a certificate, too. */
    @Test
    void nobodySaysFarewellOrReportsInTheNameOfANodeOfAnotherHost() {
        Node one = start(1, 1, 2);
        start(2, 1, 2);
        ClusterMember other = new ClusterMember(member(2).identity(), "elsewhere", 7600);
        for (boolean leaving : List.of(true, false)) {
            byte[] message = new Heartbeat(leaving, 5, List.of(), new Standing(Set.of(1L), 9, true)).encode();
            if (leaving) {
                one.membership.asked(other, message);
            } else {
                assertThatThrownBy(() -> one.membership.asked(other, message))
                        .hasMessageContaining("has the same identity");
            }
            assertThat(one.sees()).isEqualTo(members(1, 2));
            assertThat(one.view.standings()).isEqualTo(Map.of(1L, Standing.PEACE, 2L, Standing.PEACE));
        }
        one.membership.asked(
                new ClusterMember(member(3).identity(), "elsewhere", 7600),
                new Heartbeat(true, 5, List.of(), Standing.PEACE).encode());
        start(3, 1);
        assertThat(one.sees()).as("not yet a member, and welcome").isEqualTo(members(1, 2, 3));
    }

    /** A member has spoken to this node; mention by another node is not enough. */
    @Test
    void aMentionedNodeIsNoMember() {
        Node one = start(1);
        List<InetSocketAddress> mentioned = IntStream.range(0, Heartbeat.MOST)
                .mapToObj(each -> InetSocketAddress.createUnresolved("ghost" + each, 7600))
                .toList();
        byte[] many = new Heartbeat(false, 5, mentioned, Standing.PEACE).encode();
        for (int machine = 2; machine < 40; machine++) {
            one.membership.asked(member(machine), many);
        }
        assertThat(one.sees()).hasSize(39);
        wire.messages.set(0);
        pass(TIMEOUT.plus(INTERVAL));
        assertThat(one.sees()).as("nobody answers at the addresses").isEqualTo(members(1));
        pass(INTERVAL);
        wire.messages.set(0);
        pass(Duration.ofSeconds(10));
        assertThat(wire.messages.get())
                .as("addresses mentioned by nobody are forgotten")
                .isZero();
    }

    /** New addresses with each message, where nobody answers in time: the node waits for a bounded number of answers. */
    @Test
    void mentionedAddressesAreBoundedOverTime() {
        AtomicInteger asked = new AtomicInteger();
        HeartbeatMembership one = new HeartbeatMembership(new MembershipOptions(places(), TIMEOUT, INTERVAL), clock);
        one.begin(member(1), (_, _, _, _) -> asked.incrementAndGet(), _ -> {});
        for (int message = 0; message < 20; message++) {
            int number = message;
            List<InetSocketAddress> mentioned = IntStream.range(0, Heartbeat.MOST)
                    .mapToObj(each -> InetSocketAddress.createUnresolved("ghost" + number + "-" + each, 7600))
                    .toList();
            one.asked(member(2), new Heartbeat(false, 5, mentioned, Standing.PEACE).encode());
            clock.advance(INTERVAL);
            one.look();
        }
        assertThat(asked.get()).isBetween(Heartbeat.MOST / 2, 2 * Heartbeat.MOST);
        one.leave();
    }

    /** A balancer in front of several nodes, or a moving name. */
    @Test
    void anAddressLeadingToThisNodeIsTriedAgain() {
        InetSocketAddress balanced = InetSocketAddress.createUnresolved("balanced", 7600);
        HeartbeatMembership membership = new HeartbeatMembership(
                new MembershipOptions(new MembershipOptions.Discovery.Static(List.of(balanced)), TIMEOUT, INTERVAL),
                clock);
        ClusterMembership.Carrier carrier = wire.add(member(1), membership);
        wire.alias(balanced, member(1));
        List<ClusterView> views = new ArrayList<>();
        membership.begin(member(1), carrier, views::add);
        Node two = start(2);
        wire.alias(balanced, member(2));
        for (int look = 0; look < 130; look++) { // a minute and some
            clock.advance(INTERVAL);
            membership.look();
            two.membership.look();
        }
        assertThat(views.getLast().members()).isEqualTo(members(1, 2));
        assertThat(two.sees()).isEqualTo(members(1, 2));
        membership.leave();
    }

    @Test
    void nodesAreFoundByAName() {
        ClusterMember local = new ClusterMember(member(2).identity(), "127.0.0.1", 7600);
        new Node(local, places());
        Node one = new Node(member(1), new MembershipOptions.Discovery.Dns("localhost", 7600));
        assertThat(one.sees()).containsExactly(member(1), local);
        Node alone = new Node(member(3), new MembershipOptions.Discovery.Dns("nohost.invalid", 7600));
        assertThat(alone.membership.unreached())
                .containsExactly(new Unreached("nohost.invalid", false, "unknown host"));
    }

    @Test
    void membersAreLimited() {
        Node one = start(1);
        byte[] message = new Heartbeat(false, 5, List.of(), Standing.PEACE).encode();
        for (int i = 2; i < 3 * Heartbeat.MOST; i++) {
            ClusterMember next = new ClusterMember(new NodeIdentity(-5, i % 256, 1, i), "host" + i, 7600);
            if (i <= Heartbeat.MOST) {
                one.membership.asked(next, message);
            } else {
                assertThatThrownBy(() -> one.membership.asked(next, message)).hasMessageContaining("the view is full");
            }
        }
        assertThat(one.sees()).hasSize(Heartbeat.MOST);
        pass(TIMEOUT.plus(INTERVAL));
        assertThat(one.sees()).isEqualTo(members(1));
    }

    @Test
    void aNodeWithAnIdentityLeasedElsewhereIsNoMemberAndIsNamed() {
        ClusterMember elsewhere = new ClusterMember(new NodeIdentity(77, 2, 1, 2), "far", 7600);
        Node stranger = new Node(elsewhere, places());
        Node one = new Node(
                member(1),
                new MembershipOptions.Discovery.Static(List.of(Wire.address(elsewhere), Wire.address(member(3)))));
        assertThat(one.sees()).isEqualTo(members(1));
        assertThat(stranger.sees()).containsExactly(elsewhere);
        assertThat(one.membership.unreached()).hasSize(2).anySatisfy(each -> {
            assertThat(each.address()).isEqualTo("far:7600");
            assertThat(each.refuses()).isTrue();
            assertThat(each.cause()).contains("the id of its cluster is 000000000000004d");
        });
        assertThat(one.membership.unreached()).contains(new Unreached("host3:7600", false, "Connection refused"));
        start(3, 1);
        assertThat(one.membership.unreached()).hasSize(1);
    }

    /** A copied file grants a session twice. */
    @Test
    void aNodeWithTheIdentityOfThisNodeIsNoMemberAndIsNamed() {
        ClusterMember copy = new ClusterMember(member(1).identity(), "copy", 7600);
        new Node(copy, places());
        Node one = new Node(member(1), new MembershipOptions.Discovery.Static(List.of(Wire.address(copy))));
        assertThat(one.sees()).isEqualTo(members(1));
        assertThat(one.membership.unreached()).singleElement().satisfies(each -> {
            assertThat(each.refuses()).isTrue();
            assertThat(each.cause()).contains("it has the identity of this node, node 1 (m1.s1)");
        });
    }

    @Test
    void malformedMessagesAreRefused() {
        Node one = start(1);
        assertThatThrownBy(() -> one.membership.asked(member(2), new byte[3])).isInstanceOf(IreeException.class);
        one.membership.leave();
        assertThatThrownBy(() ->
                        one.membership.asked(member(2), new Heartbeat(false, 5, List.of(), Standing.PEACE).encode()))
                .hasMessageContaining("in no cluster");
    }

    /** Starts, ends with and without a farewell, cuts of directions and pauses; then the network is whole for a while. */
    @Test
    void whateverHappensAllLivingNodesSeeExactlyEachOtherSoonAfter() {
        for (long seed = 0; seed < 60; seed++) {
            Random random = new Random(seed);
            nodes.clear();
            wire.clear();
            int machines = 2 + random.nextInt(6);
            int[] list = random.ints(1 + random.nextInt(2), 1, 1 + machines).toArray();
            int incarnation = 0;
            Map<Integer, Node> living = new TreeMap<>(); // by machine
            for (int step = 0; step < 60; step++) {
                int machine = 1 + random.nextInt(machines);
                Node there = living.get(machine);
                switch (random.nextInt(6)) {
                    case 0, 1 -> {
                        if (there == null) {
                            ClusterMember next = new ClusterMember(
                                    new NodeIdentity(-5, machine, 1, ++incarnation), "host" + machine, 7600);
                            living.put(machine, new Node(next, places(list)));
                        }
                    }
                    case 2 -> {
                        if (there != null && random.nextBoolean()) {
                            if (random.nextBoolean()) {
                                there.membership.leave();
                            }
                            wire.remove(there.member);
                            living.remove(machine);
                        }
                    }
                    case 3 ->
                        living.values().forEach(each -> {
                            if (there != null && random.nextInt(3) == 0) {
                                wire.cut(there.member, each.member);
                            }
                        });
                    case 4 -> wire.heal();
                    default ->
                        pass(
                                INTERVAL.multipliedBy(1 + random.nextInt(12)),
                                living.values().stream()
                                        .filter(_ -> random.nextInt(8) > 0)
                                        .toList());
                }
            }
            for (int each : list) { // or nobody is at the address
                if (!living.containsKey(each)) {
                    ClusterMember next =
                            new ClusterMember(new NodeIdentity(-5, each, 1, ++incarnation), "host" + each, 7600);
                    living.put(each, new Node(next, places(list)));
                }
            }
            wire.heal();
            pass(Duration.ofSeconds(20), living.values());
            Set<ClusterMember> all =
                    living.values().stream().map(each -> each.member).collect(Collectors.toSet());
            for (Node each : living.values()) {
                assertThat(Set.copyOf(each.sees())).as("seed %d", seed).isEqualTo(all);
                assertThat(each.membership.unreached()).as("seed %d", seed).isEmpty();
            }
            List<Integer> views = new ArrayList<>();
            living.values().forEach(each -> views.add(each.views));
            pass(Duration.ofMinutes(1), living.values());
            assertThat(living.values())
                    .as("seed %d: no view without a cause", seed)
                    .extracting(each -> each.views)
                    .isEqualTo(views);
        }
    }
}

package io.github.iree4j.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.cluster.membership.MemoryMembership;
import io.github.iree4j.cluster.transport.GrpcTransport;
import io.github.iree4j.cluster.transport.PeerHandler;
import io.github.iree4j.cluster.transport.TransportOptions;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.hal.remote.RemoteNode;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** Nodes of one JVM with real connections over loopback. */
class ClusterNodeTests {

    private static final Duration GRACE = Duration.ofSeconds(6);
    private static final Duration SOON = Duration.ofSeconds(30);

    private static final ClusterMembership.Carrier NO_CARRIER = (_, _, _, _) -> {};

    private final MemoryMembership.Network network = new MemoryMembership.Network();
    private final ManualClock clock = new ManualClock();
    private final List<Node> nodes = new ArrayList<>();
    private Duration resumeTimeout = Duration.ofHours(1); // of nodes made later

    /** A node, and the notices of its cluster. */
    private final class Node implements ClusterListener {
        final BlockingQueue<Long> failed = new LinkedBlockingQueue<>();
        final BlockingQueue<IreeException> fenced = new LinkedBlockingQueue<>();
        final MemoryMembership membership = new MemoryMembership(network);
        final ClusterNode node;

        Node(int incarnation, int machine) {
            NodeIdentity identity = new NodeIdentity(7, machine, 1, incarnation);
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(1, machine), FrontierTracker.create(), 12);
            node = new ClusterNode(
                    identity,
                    RemoteNode.builder(identity, domain),
                    TransportOptions.of(InetAddress.getLoopbackAddress(), 0).withResumeTimeout(resumeTimeout),
                    membership,
                    "127.0.0.1",
                    GRACE,
                    clock,
                    Runnable::run,
                    this);
            nodes.add(this);
        }

        @Override
        public void failed(long incarnation, IreeException cause) {
            failed.add(incarnation);
        }

        @Override
        public void fenced(IreeException cause) {
            fenced.add(cause);
        }

        List<Long> sessions() {
            return node.peers().stream()
                    .filter(each -> each.session() != null)
                    .map(each -> each.member().identity().incarnation())
                    .toList();
        }
    }

    private Node start(int incarnation) throws InterruptedException {
        Node started = new Node(incarnation, incarnation);
        started.node.start();
        for (Node each : nodes) {
            if (each.node.fenced().isEmpty()) {
                assertThat(each.node.awaitSessions(SOON))
                        .as("%s connects", each.node)
                        .isTrue();
            }
        }
        return started;
    }

    /** Lets pass as much time as mutual failures may last, from the time when all nodes know of the failures. */
    private IreeException awaitFenced(Node node) throws InterruptedException {
        for (int look = 0; look < 1000; look++) {
            nodes.forEach(each -> each.node.look());
            clock.advance(GRACE.dividedBy(2));
            IreeException cause = node.fenced.poll(10, TimeUnit.MILLISECONDS);
            if (cause != null) {
                return cause;
            }
        }
        throw new AssertionError(node.node.identity() + " is not fenced");
    }

    private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        T taken = queue.poll(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(taken).isNotNull();
        return taken;
    }

    @AfterEach
    void close() {
        nodes.forEach(each -> each.node.close());
    }

    @Test
    void everyNodeHasASessionWithEveryOther() throws InterruptedException {
        Node two = start(2);
        Node three = start(3);
        Node one = start(1);
        assertThat(one.sessions()).containsExactlyInAnyOrder(2L, 3L);
        assertThat(two.sessions()).containsExactlyInAnyOrder(1L, 3L);
        assertThat(three.sessions()).containsExactlyInAnyOrder(1L, 2L);
    }

    @Test
    void aLeavingNodeIsFailedByTheOthersForGood() throws InterruptedException {
        Node one = start(1);
        Node two = start(2);
        two.node.close();
        assertThat(take(one.failed)).isEqualTo(2);
        assertThat(one.node.remote().failures()).containsKey(2L);
        assertThat(one.node.fenced()).isEmpty();
    }

    /** Suspicions are broadcast late, by nodes cut off before; sessions prove who lives. */
    @Test
    void aViewWithoutALivingNodeFailsNobody() throws InterruptedException {
        Node one = start(1);
        Node two = start(2);
        Node three = start(3);
        List<Long> sessions = two.sessions();
        for (int times = 0; times < 3; times++) {
            network.cut(List.of(two.membership));
            network.heal();
            clock.advance(GRACE);
            nodes.forEach(each -> each.node.look());
        }
        for (Node each : nodes) {
            assertThat(each.node.awaitSessions(SOON)).isTrue();
            assertThat(each.failed).isEmpty();
            assertThat(each.node.fenced()).isEmpty();
            assertThat(each.node.remote().failures()).isEmpty();
        }
        assertThat(one.sessions()).containsExactlyInAnyOrder(2L, 3L);
        assertThat(two.sessions()).isEqualTo(sessions);
        assertThat(three.sessions()).containsExactlyInAnyOrder(1L, 2L);
    }

    /** The connection may be silent for long; a living process keeps its port. */
    @Test
    void aNodeWithAPlaceTakenByAnotherProcessIsFailed() throws InterruptedException {
        Node one = start(1);
        Node two = start(2);
        int port = two.node.self().orElseThrow().port();
        two.membership.leave();
        new MemoryMembership(network)
                .join(new ClusterMember(new NodeIdentity(7, 2, 2, 9), "127.0.0.1", port), NO_CARRIER, _ -> {});
        assertThat(take(one.failed)).isEqualTo(2);
        assertThat(one.node.remote().failures().get(2L)).hasMessageContaining("has taken the place of node 2");
    }

    /** A slow start of several nodes at once: views come and go before the first session. */
    @Test
    void aNodeLeavingAViewBeforeItsFirstSessionIsWelcomeLater() throws InterruptedException {
        Node one = start(1);
        ClusterMember slow = new ClusterMember(new NodeIdentity(7, 2, 1, 2), "127.0.0.1", 1);
        MemoryMembership passing = new MemoryMembership(network);
        passing.join(slow, NO_CARRIER, _ -> {});
        passing.leave();
        assertThat(one.node.remote().failures()).isEmpty();
        Node two = start(2);
        assertThat(two.sessions()).containsExactly(1L);
        assertThat(one.failed).isEmpty();
    }

    @Test
    void afterACutTheSmallerGroupIsFencedWhenSeenAgain() throws InterruptedException {
        resumeTimeout = Duration.ZERO;
        Node one = start(1);
        Node two = start(2);
        Node three = start(3);
        network.cut(List.of(one.membership));
        assertThat(List.of(take(one.failed), take(one.failed))).containsExactlyInAnyOrder(2L, 3L);
        assertThat(take(two.failed)).isEqualTo(1);
        assertThat(two.sessions()).containsExactly(3L);
        network.heal();
        assertThat(awaitFenced(one).code()).isEqualTo(StatusCode.ABORTED);
        assertThat(two.node.fenced()).isEmpty();
        assertThat(three.node.fenced()).isEmpty();
        Node again = start(4);
        assertThat(again.sessions()).containsExactlyInAnyOrder(2L, 3L);
    }

    /** The network heals between the node's two suspicions: both groups have node 3. */
    @Test
    void aCutOffNodeYieldsAloneAlsoBeforeLosingAllOthers() throws InterruptedException {
        resumeTimeout = Duration.ZERO;
        Node one = start(1);
        Node cut = start(2);
        Node three = start(3);
        network.show(List.of(cut.membership), List.of(cut.membership, three.membership));
        assertThat(take(cut.failed)).isEqualTo(1);
        network.show(List.of(one.membership, three.membership), List.of(one.membership, three.membership));
        network.heal();
        assertThat(awaitFenced(cut).code()).isEqualTo(StatusCode.ABORTED);
        assertThat(one.node.fenced()).isEmpty();
        assertThat(three.node.fenced()).isEmpty();
        assertThat(one.sessions()).containsExactly(3L);
    }

    /** The streams ended after a silence too short for an exclusion by the others. */
    @Test
    void theMajorityStaysOfNodesThatFailedEachOtherWithinAView() throws InterruptedException {
        Node one = start(1);
        Node two = start(2);
        Node three = start(3);
        IreeException cause = IreeException.of(StatusCode.UNAVAILABLE, "cable");
        one.node.remote().fail(2, cause);
        one.node.remote().fail(3, cause);
        assertThat(take(two.failed)).isEqualTo(1);
        assertThat(take(three.failed)).isEqualTo(1);
        assertThat(one.node.fenced()).isEmpty();
        assertThat(awaitFenced(one)).hasMessageContaining("needs a new identity");
        assertThat(two.sessions()).containsExactly(3L);
        assertThat(two.node.fenced()).isEmpty();
        assertThat(three.node.fenced()).isEmpty();
    }

    @Test
    void aLostConnectionBetweenLivingNodesFencesTheYoungerAfterAWhile() throws InterruptedException {
        Node one = start(1);
        Node two = start(2);
        Node three = start(3);
        two.node.remote().fail(3, IreeException.of(StatusCode.UNAVAILABLE, "cable"));
        assertThat(take(three.failed)).isEqualTo(2);
        for (Node each : nodes) {
            each.node.look();
        }
        assertThat(three.node.fenced()).isEmpty();
        assertThat(awaitFenced(three)).hasMessageContaining("needs a new identity");
        assertThat(one.node.fenced()).isEmpty();
        assertThat(two.node.fenced()).isEmpty();
        assertThat(take(one.failed)).isEqualTo(3);
    }

    /** An older node has died, and is in view still when this process is paused. */
    @Test
    void theTimeOfAPauseDoesNotCountForConflicts() throws InterruptedException {
        Node one = start(1);
        Node two = start(2);
        two.node.remote().fail(1, IreeException.of(StatusCode.UNAVAILABLE, "refused"));
        assertThat(take(one.failed)).isEqualTo(2);
        two.node.look();
        clock.advance(Duration.ofHours(1));
        two.node.look();
        assertThat(two.node.fenced()).isEmpty();
        one.membership.leave();
        clock.advance(Duration.ofHours(1));
        two.node.look();
        assertThat(two.node.fenced()).isEmpty();
    }

    @Test
    void aNodeFencedBeforeItsStartDoesNotJoin() throws InterruptedException {
        Node one = start(1);
        Node late = new Node(2, 2);
        late.node.fence(IreeException.of(StatusCode.ABORTED, "the lease was lost"));
        late.node.start();
        assertThat(one.node.view().members()).hasSize(1);
        assertThat(one.node.views()).isEqualTo(1);
        assertThat(late.node.awaitSessions(SOON)).isFalse();
    }

    @Test
    void twoNodesWithTheSameMachineIndexAreFoundOut() throws InterruptedException {
        Node first = start(1);
        Node twin = new Node(9, 1);
        twin.node.start();
        IreeException cause = awaitFenced(twin);
        assertThat(cause.code()).isEqualTo(StatusCode.ALREADY_EXISTS);
        assertThat(cause).hasMessageContaining("machine index");
        assertThat(first.node.fenced()).isEmpty();
    }

    @Test
    void aFormerSessionStillSeenDoesNotFenceTheNext() throws InterruptedException {
        Node one = start(1);
        MemoryMembership former = new MemoryMembership(network);
        former.join(new ClusterMember(new NodeIdentity(7, 5, 1, 3), "127.0.0.1", 1), NO_CARRIER, _ -> {});
        Node again = new Node(5, 5);
        again.node.start();
        assertThat(one.node.awaitSession(each -> each.identity().incarnation() == 5, SOON))
                .isPresent(); // or the clock's advance ends the connection as silent
        assertThat(again.node.awaitSession(each -> each.identity().incarnation() == 1, SOON))
                .isPresent();
        MemoryMembership passing = new MemoryMembership(network);
        passing.join(new ClusterMember(new NodeIdentity(7, 6, 1, 6), "127.0.0.1", 1), NO_CARRIER, _ -> {});
        network.cut(List.of(passing));
        network.heal();
        assertThat(again.node.fenced()).isEmpty();
        former.leave();
        passing.leave();
        clock.advance(GRACE);
        again.node.look();
        one.node.look();
        assertThat(again.node.fenced()).isEmpty();
        assertThat(one.node.awaitSessions(SOON)).isTrue();
        assertThat(again.sessions()).containsExactly(1L);
    }

    @Test
    void silentConnectionsAreLimitedAndEnd() throws InterruptedException {
        Node one = start(1);
        BlockingQueue<IreeException> ended = new LinkedBlockingQueue<>();
        BlockingQueue<PeerConnection> connected = new LinkedBlockingQueue<>();
        TransportOptions options = TransportOptions.of(InetAddress.getLoopbackAddress(), 0);
        int connections = 70;
        try (GrpcTransport silent = new GrpcTransport(options, new Silent(connected, ended))) {
            silent.listen(new NodeIdentity(7, 9, 1, 9), "127.0.0.1");
            ClusterMember victim = one.node.self().orElseThrow();
            for (int i = 0; i < connections; i++) {
                silent.dial(victim);
            }
            for (int i = 0; i < connections; i++) {
                assertThat(take(connected).describe()).isNotEmpty();
            }
            for (int i = 64; i < connections; i++) {
                assertThat(take(ended)).hasMessageContaining("limit is 64");
            }
            one.node.look();
            assertThat(ended).isEmpty();
            clock.advance(options.connectTimeout());
            one.node.look();
            for (int i = 0; i < 64; i++) {
                assertThat(take(ended)).hasMessageContaining("said nothing");
            }
        }
        Node two = start(2);
        assertThat(two.sessions()).containsExactly(1L);
    }

    /** Connects and says nothing. */
    private record Silent(BlockingQueue<PeerConnection> connected, BlockingQueue<IreeException> ended)
            implements PeerHandler {
        @Override
        public PeerListener accepted(PeerConnection connection, ClusterMember peer) {
            throw new AssertionError(peer);
        }

        @Override
        public PeerListener dialed(PeerConnection connection, ClusterMember peer) {
            connected.add(connection);
            return new PeerListener() {
                @Override
                public void received(PeerStream stream, ByteBuffer frame, ByteBuffer... rest) {}

                @Override
                public void ready(PeerStream stream) {}

                @Override
                public void closed(IreeException cause) {
                    ended.add(cause);
                }
            };
        }

        @Override
        public void unreachable(ClusterMember peer, IreeException cause) {
            throw new AssertionError(cause);
        }

        @Override
        public byte[] asked(ClusterMember peer, byte[] message) {
            throw new AssertionError(peer);
        }
    }

    /** Connects to a node with any identity, from an address of no member. */
    private final class Stranger implements AutoCloseable, PeerHandler {
        final BlockingQueue<IreeException> ended = new LinkedBlockingQueue<>();
        final BlockingQueue<PeerConnection> connections = new LinkedBlockingQueue<>();
        final RemoteNode sessions;
        final ClusterMember self;
        private final GrpcTransport transport =
                new GrpcTransport(TransportOptions.of(InetAddress.getLoopbackAddress(), 0), this);

        Stranger(NodeIdentity identity) {
            sessions = RemoteNode.builder(
                            identity,
                            SchedulingDomain.create(
                                    AxisAllocator.create(identity.session(), identity.machine()),
                                    FrontierTracker.create(),
                                    12))
                    .build();
            self = transport.listen(identity, "127.0.0.1");
        }

        void dial(Node victim) {
            transport.dial(victim.node.self().orElseThrow());
        }

        /** Waits until the victim ends the connection, with the victim's time passing. */
        IreeException awaitEnd(Node victim) throws InterruptedException {
            while (true) {
                clock.advance(Duration.ofSeconds(5)); // may come before the connection
                victim.node.look();
                IreeException end = ended.poll(10, TimeUnit.MILLISECONDS);
                if (end != null) {
                    return end;
                }
            }
        }

        @Override
        public PeerListener accepted(PeerConnection connection, ClusterMember peer) {
            throw new AssertionError(peer);
        }

        @Override
        public PeerListener dialed(PeerConnection connection, ClusterMember peer) {
            PeerConnection stays = new PeerConnection() { // until the other side ends the connection
                        @Override
                        public boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body) {
                            return connection.trySend(stream, head, body);
                        }

                        @Override
                        public void close(IreeException cause) {}

                        @Override
                        public String describe() {
                            return connection.describe();
                        }
                    };
            PeerListener session = sessions.dial(stays, peer.identity().incarnation());
            connections.add(connection);
            return new PeerListener() {
                @Override
                public void received(PeerStream stream, ByteBuffer frame, ByteBuffer... rest) {
                    session.received(stream, frame, rest);
                }

                @Override
                public void ready(PeerStream stream) {
                    session.ready(stream);
                }

                @Override
                public void closed(IreeException cause) {
                    session.closed(cause);
                    ended.add(cause);
                }
            };
        }

        @Override
        public void unreachable(ClusterMember peer, IreeException cause) {
            ended.add(cause);
        }

        @Override
        public byte[] asked(ClusterMember peer, byte[] message) {
            throw new AssertionError(peer);
        }

        @Override
        public void close() {
            sessions.close();
            transport.close();
        }
    }

    @Test
    void aSessionBegunBeforeTheViewOpensWithTheView() throws InterruptedException {
        Node three = start(3);
        MemoryMembership membership = new MemoryMembership(network);
        try (Stranger one = new Stranger(new NodeIdentity(7, 1, 1, 1))) {
            one.dial(three);
            assertThat(three.sessions()).isEmpty();
            membership.join(one.self, NO_CARRIER, _ -> {});
            assertThat(three.node.awaitSession(each -> each.equals(one.self), SOON))
                    .isPresent();
            membership.leave();
        }
    }

    @Test
    @Timeout(60)
    void aStrangerHasNoSessionAndTakesNoIdentity() throws InterruptedException {
        Node three = start(3);
        try (Stranger stranger = new Stranger(new NodeIdentity(7, 5, 1, 1))) {
            stranger.dial(three);
            take(stranger.connections).trySend(PeerStream.CONTROL, ByteBuffer.allocate(8), ByteBuffer.allocate(0));
            assertThat(take(stranger.ended)).hasMessageContaining("membership does not know it");
            assertThat(three.node.remote().failures()).isEmpty();
            stranger.dial(three);
            IreeException end = stranger.awaitEnd(three);
            assertThat(end).hasMessageContaining("connected to node 3");
            assertThat(three.node.remote().failures()).isEmpty();
        }
        Node five = new Node(5, 5);
        five.node.start();
        assertThat(five.node.awaitSessions(SOON)).isTrue();
        assertThat(three.sessions()).containsExactly(5L);
    }

    @Test
    @Timeout(60)
    void aRejectionOfAStrangerFencesNoNode() throws InterruptedException {
        Node two = start(2);
        start(1);
        try (Stranger impostor = new Stranger(new NodeIdentity(7, 1, 1, 1))) {
            impostor.sessions.fail(2, IreeException.of(StatusCode.UNAVAILABLE, "no thanks"));
            impostor.dial(two);
            take(impostor.connections).trySend(PeerStream.CONTROL, ByteBuffer.allocate(8), ByteBuffer.allocate(0));
            take(impostor.ended); // after the first frames
            two.node.look();
            clock.advance(GRACE);
            two.node.look();
            assertThat(two.node.fenced()).isEmpty();
            assertThat(two.sessions()).containsExactly(1L);
        }
    }

    @Test
    void anUnreachablePeerIsTriedAgainWhileSeenAndLoggedOnce() throws InterruptedException {
        Logger log = (Logger) LoggerFactory.getLogger(ClusterNode.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.addAppender(lines);
        Node one = start(1);
        MemoryMembership ghost = new MemoryMembership(network);
        ghost.join(new ClusterMember(new NodeIdentity(7, 5, 1, 5), "127.0.0.1", 1), NO_CARRIER, _ -> {});
        assertThat(one.node.awaitSessions(Duration.ofMillis(1))).isFalse();
        IreeException last = null;
        for (int attempt = 0; attempt < 3; attempt++) {
            ClusterPeer peer;
            do {
                peer = one.node.peers().getFirst();
                Thread.onSpinWait();
            } while (peer.failure() == last);
            assertThat(peer.session()).isNull();
            last = peer.failure();
            clock.advance(Duration.ofSeconds(5));
            one.node.look();
        }
        log.detachAppender(lines);
        assertThat(List.copyOf(lines.list))
                .filteredOn(each -> each.getFormattedMessage().contains("cannot connect to node 5"))
                .hasSize(1);
        ghost.leave();
        assertThat(one.node.peers()).isEmpty();
        assertThat(one.node.awaitSessions(SOON)).isTrue();
        assertThat(one.node.fenced()).isEmpty();
    }
}

package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.FailureDetail;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.NeverFits;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** REMOTE-1, REMOTE-2: sessions open once, fail once, and take along the axes of the peer. */
class RemoteSessionTest {
    private static final IreeException LOST = IreeException.of(StatusCode.UNAVAILABLE, "left the view");

    private final TestNodes nodes = new TestNodes();
    private Loopback loopback = new Loopback(1);

    @AfterEach
    void closeAll() {
        nodes.close();
    }

    private static long axis(RemoteNode node) {
        return node.served().getFirst().queue(0).axis();
    }

    @Test
    void bothSidesKnowAxesEpochsAndDevicesOfTheOther() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        one.served().getFirst().queue(0).barrier(null, null, 0);
        loopback.connect(one, two);
        loopback.run();

        assertThat(nodes.events).containsExactlyInAnyOrder("1: opened 2", "2: opened 1");
        assertThat(one.session(2).isOpen()).isTrue();
        assertThat(two.domain().tracker().completed(axis(one))).isEqualTo(1);
        assertThat(two.domain().tracker().isRegistered(axis(one))).isTrue();
        assertThat(one.domain().tracker().isRegistered(axis(two))).isTrue();
        assertThat(two.session(1).devices()).hasSize(1);
        assertThat(two.session(1).devices().getFirst().id()).isEqualTo("virtual1");
        assertThat(two.session(1).devices().getFirst().queueCount()).isEqualTo(2);
        assertThat(two.session(1).peer()).isEqualTo(one.identity());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void overtakingStreamsAndRepeatedFramesDoNotMatter(long seed) {
        loopback = new Loopback(seed).repeats(40);
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        RemoteNode three = nodes.node(3);
        loopback.connect(one, two);
        loopback.connect(one, three);
        loopback.connect(two, three);
        loopback.run();
        assertThat(nodes.events).hasSize(6).allMatch(each -> each.contains("opened"));
    }

    @Test
    void aPeerWithAFalseNameLeavesNothingBehind() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        Link link = loopback.connect(one, two);
        link.back.peer = new NodeIdentity(TestNodes.CLUSTER, 9, 1, 9);
        loopback.run();
        assertThat(nodes.events)
                .containsExactlyInAnyOrder("1: failed PERMISSION_DENIED ?", "2: failed PERMISSION_DENIED ?");
        assertThat(two.failures()).isEmpty();
        loopback.connect(one, two);
        loopback.run();
        assertThat(one.session(2).isOpen()).isTrue();
    }

    @Test
    void theLowerIncarnationDials() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        loopback.connect(two, one);
        loopback.run();
        assertThat(nodes.events)
                .containsExactlyInAnyOrder("1: failed FAILED_PRECONDITION ?", "2: failed FAILED_PRECONDITION ?");
        loopback.connect(one, two); // an attempt in vain is not held against anyone
        loopback.run();
        assertThat(one.session(2).isOpen()).isTrue();
    }

    @Test
    void nodesOfAnotherClusterWrongSlotsAndOtherPeersAreRejected() {
        RemoteNode one = nodes.node(1);
        RemoteNode stranger = nodes.node(new NodeIdentity(7, 2, 1, 2), RemoteOptions.DEFAULTS);
        RemoteNode three = nodes.node(3);
        RemoteNode sameSlot = nodes.node(new NodeIdentity(TestNodes.CLUSTER, 3, 1, 4), RemoteOptions.DEFAULTS);
        loopback.connect(one, stranger);
        loopback.run();
        assertThat(nodes.events).containsExactlyInAnyOrder("1: failed INCOMPATIBLE ?", "2: failed INCOMPATIBLE ?");
        nodes.events.clear();
        loopback.connect(one, three, 99);
        loopback.run();
        assertThat(nodes.events).containsExactlyInAnyOrder("1: failed NOT_FOUND ?", "3: failed NOT_FOUND ?");
        nodes.events.clear();
        loopback.connect(one, three);
        loopback.run();
        loopback.connect(one, three);
        loopback.connect(one, sameSlot);
        loopback.run();
        assertThat(one.session(3).isOpen()).isTrue();
        assertThat(nodes.events)
                .containsExactlyInAnyOrder(
                        "1: opened 3",
                        "3: opened 1",
                        "1: failed ALREADY_EXISTS ?",
                        "3: failed ALREADY_EXISTS ?",
                        "1: failed ALREADY_EXISTS ?",
                        "4: failed ALREADY_EXISTS 1");
    }

    @Test
    void theEndOfTheConnectionFailsTheAxesOfThePeerOnBothSides() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        Link link = loopback.connect(one, two);
        loopback.run();
        List<@Nullable IreeException> causes = new ArrayList<>();
        two.domain().tracker().whenCompleted(Frontier.of(axis(one), 5), causes::add);
        loopback.cut(link);
        loopback.run();

        assertThat(causes).singleElement().extracting(IreeException::code).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(one.domain().tracker().failure(axis(two))).isNotNull();
        assertThat(one.sessions()).isEmpty();
        assertThatThrownBy(() -> one.session(2)).hasMessageContaining("needs a new identity");
        assertThat(nodes.events).contains("1: failed UNAVAILABLE 2", "2: failed UNAVAILABLE 1");
    }

    /** The answer to the greeting is lost with the connection: the peer has never heard of the session, and dials again. */
    @Test
    void aConnectionEndingWithinTheHandshakeIsNoFailureOfThePeer() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        Link link = loopback.connect(one, two);
        loopback.step();
        assertThat(two.sessions()).as("admitted").hasSize(1);
        link.back.take(PeerStream.CONTROL);
        loopback.cut(link);
        loopback.run();
        assertThat(nodes.events).containsExactlyInAnyOrder("1: failed UNAVAILABLE ?", "2: failed UNAVAILABLE 1");
        assertThat(two.sessions()).isEmpty();
        assertThat(two.failures()).isEmpty();
        assertThat(two.domain().tracker().failure(axis(one))).isNull();
        loopback.connect(one, two);
        loopback.run();
        assertThat(two.session(1).isOpen()).isTrue();
        assertThat(two.domain().tracker().isRegistered(axis(one))).isTrue();
    }

    @Test
    void aPeerFailedWithinTheHandshakeIsNotAcceptedAgain() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        Link link = loopback.connect(one, two);
        loopback.step();
        link.back.take(PeerStream.CONTROL);
        two.fail(1, LOST);
        loopback.cut(link);
        loopback.run();
        assertThat(two.failures()).containsOnlyKeys(1L);
        loopback.connect(one, two);
        loopback.run();
        assertThat(two.sessions()).isEmpty();
    }

    /** Frames of a peer on another stream may overtake the READY. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPeerWithAUsedSessionFailsWithTheConnection(boolean isOwn) {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        try (TimelineSemaphore ours = TimelineSemaphore.create(0);
                TimelineSemaphore theirs = TimelineSemaphore.create(0)) {
            SemaphoreExport ofOne = one.export(theirs);
            SemaphoreExport ofTwo = two.export(ours);
            Link link = loopback.connect(one, two);
            loopback.step();
            TimelineSemaphore proxy;
            if (isOwn) { // this side waits for the peer, before the peer has heard of the session
                proxy = two.session(1).semaphore(ofOne.id(), 1);
                link.back.take(PeerStream.CONTROL);
            } else {
                loopback.step();
                link.hold(PeerStream.CONTROL, true);
                proxy = one.session(2).semaphore(ofTwo.id(), 1);
                loopback.run();
                assertThat(two.session(1).isOpen()).isFalse();
            }
            loopback.cut(link);
            loopback.run();
            assertThat(proxy.failure()).isNotNull();
            assertThat(two.failures()).containsOnlyKeys(1L);
            proxy.close();
        }
    }

    @Test
    void failingIsStickyAndIdempotent() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        loopback.connect(one, two);
        loopback.run();
        RemoteSession session = one.session(2);
        one.fail(2, LOST);
        one.fail(2, IreeException.of(StatusCode.INTERNAL, "later"));
        assertThat(session.failure()).isSameAs(LOST);
        assertThat(one.domain().tracker().failure(axis(two))).isSameAs(LOST);
        loopback.run();
        nodes.events.clear();

        loopback.connect(one, two); // the peer learns of its loss
        loopback.run();
        assertThat(nodes.events).containsExactlyInAnyOrder("1: failed ABORTED ?", "2: failed ABORTED ?");
        assertThat(one.failures()).containsOnlyKeys(2L);
    }

    @Test
    void anIncarnationThatFailedBeforeItsSessionIsRejected() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        two.fail(1, LOST);
        loopback.connect(one, two);
        loopback.run();
        assertThat(nodes.events).containsExactlyInAnyOrder("1: failed ABORTED ?", "2: failed ABORTED ?");
    }

    @Test
    void lateFramesOfAFailedIncarnationAreDropped() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        Link link = loopback.connect(one, two);
        loopback.run();
        RemoteSession at = two.session(1);
        two.fail(1, LOST);
        long before = at.statistics().framesDropped();
        PeerListener late = link.receiver;
        late.received(
                PeerStream.QUEUE,
                new FrameWriter(FrameType.ADVANCE)
                        .u64(1)
                        .u64(7)
                        .frontier(Frontier.of(axis(one), 7))
                        .finish());
        assertThat(at.statistics().framesDropped()).isEqualTo(before + 1);
        assertThat(two.domain().tracker().completed(axis(one))).isZero();
        assertThat(at.failure()).isSameAs(LOST);
    }

    /** REMOTE-1: a frame may be under way in the server while another thread fails the session. */
    @Test
    void nothingIsAddedToTheServerOfAFailedSession() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        loopback.connect(one, two);
        loopback.run();
        RemoteServer server = two.session(1).server();
        two.fail(1, LOST);
        long lane = one.domain().axes().allocate(CausalDomain.QUEUE);
        FrameWriter open = new FrameWriter(FrameType.OPEN_LANE).u64(lane).u16(0).u16(0);
        assertThatThrownBy(() -> server.openLane(new FrameReader(PeerStream.QUEUE, open.finish())))
                .isSameAs(LOST);
        FrameWriter memory = new FrameWriter(FrameType.ALLOCATE)
                .u64(1)
                .u16(0)
                .u64(64)
                .bytes(GrantKey.create().bytes());
        assertThatThrownBy(() -> server.objects().allocate(new FrameReader(PeerStream.QUEUE, memory.finish())))
                .isSameAs(LOST);
    }

    @Test
    void aLostFrameEndsTheSession() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        Link link = loopback.connect(one, two);
        loopback.run();
        RemoteSession at = two.session(1);
        ByteBuffer frame = new FrameWriter(FrameType.UNSUBSCRIBE).u64(1).finish();
        frame.putInt(FrameWriter.NUMBER, 3);
        link.receiver.received(PeerStream.QUEUE, frame);
        assertThat(at.failure()).hasMessageContaining("frame 3 on QUEUE follows frame 0; the transport lost 2");
        assertThat(at.failure().code()).isEqualTo(StatusCode.DATA_LOSS);
    }

    @Test
    void aPeerWithoutReadingIsFailed() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        Link link = loopback.connect(one, two);
        loopback.run();
        loopback.capacity(1);
        link.hold(PeerStream.QUEUE, true);
        RemoteSession session = one.session(2);
        for (int i = 0; i < 70; i++) {
            session.post(new FrameWriter(FrameType.UNSUBSCRIBE).bytes(new byte[1 << 20]));
        }
        assertThat(session.statistics().bytesWaiting()).isLessThanOrEqualTo(Outbox.HARD_LIMIT);
        loopback.run();
        assertThat(two.sessions()).isEmpty();
        assertThat(nodes.events).contains("2: failed RESOURCE_EXHAUSTED 1");
    }

    @Test
    void aLeavingNodeTellsItsPeersAndTakesNoNewPeers() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        RemoteNode three = nodes.node(3);
        loopback.connect(one, two);
        loopback.run();
        two.goAway("upgrade");
        two.goAway("again");
        loopback.run();
        assertThat(nodes.events).contains("1: draining 2");
        assertThat(one.session(2).draining()).hasMessageContaining("upgrade");
        assertThat(one.session(2).isOpen()).isTrue();
        loopback.connect(two, three);
        loopback.run();
        assertThat(nodes.events).contains("3: failed UNAVAILABLE ?");
    }

    @Test
    void anAxisOfAThirdNodeCannotBeAnnounced() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        loopback.connect(one, two);
        long foreign = nodes.node(9).domain().axes().allocate(CausalDomain.QUEUE);
        loopback.run();
        // Not owned by the sender: neither registered nor advanced.
        assertThat(two.session(1).peerAxes().believed(Frontier.of(foreign, 4)).size())
                .isZero();
        assertThat(two.domain().tracker().isRegistered(foreign)).isFalse();
    }

    @Test
    void aDomainOfAnotherSlotIsRefused() {
        NodeIdentity identity = new NodeIdentity(1, 2, 3, 4);
        assertThatThrownBy(() -> RemoteNode.builder(identity, TestNodes.domain(new NodeIdentity(1, 2, 4, 4))))
                .hasMessageContaining("m2.s4")
                .hasMessageContaining("node 4 (m2.s3)");
    }

    @Test
    void aPeerOfAnotherProtocolLearnsBothVersions() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        Link link = loopback.connect(one, two);
        byte[] rejection = rejection(link, FrameWriter.HEAD, Hello.PROTOCOL + 1);
        assertThat(new FrameReader(PeerStream.CONTROL, ByteBuffer.wrap(rejection)).status(""))
                .hasMessageContaining("protocol " + (Hello.PROTOCOL + 1))
                .hasMessageContaining("protocol " + Hello.PROTOCOL + ";");
        assertThat(nodes.events).containsExactlyInAnyOrder("1: failed INCOMPATIBLE ?", "2: failed INCOMPATIBLE ?");
    }

    @Test
    void aPeerWithOtherFramesLearnsAndReadsBothVersions() {
        RemoteNode one = nodes.node(1);
        RemoteNode two = nodes.node(2);
        Link link = loopback.connect(one, two);
        byte[] rejection = rejection(link, 1, 9);
        rejection[1] = 9; // as written by the other release
        assertThat(new FrameReader(PeerStream.CONTROL, ByteBuffer.wrap(rejection)).status(""))
                .hasMessageContaining("version 9")
                .hasMessageContaining("version " + FrameWriter.VERSION + ";");
    }

    /** Has a HELLO say another version; returns the answer. */
    private byte[] rejection(Link link, int at, int version) {
        List<byte[]> answers = new ArrayList<>();
        byte[] hello = link.take(PeerStream.CONTROL);
        hello[at] = (byte) version;
        link.back.change(bytes -> {
            answers.add(bytes.clone());
            return bytes;
        });
        link.receiver.received(PeerStream.CONTROL, ByteBuffer.wrap(hello));
        loopback.run();
        assertThat(answers).hasSize(1);
        assertThat(answers.getFirst()[0]).isEqualTo((byte) FrameType.REJECT.number);
        return answers.getFirst();
    }

    @Test
    void namesInFramesAreWholeAndOnlyMessagesAreCut() {
        String name = "n".repeat(60_000);
        FrameReader in = new FrameReader(
                PeerStream.QUEUE,
                new FrameWriter(FrameType.LOADED)
                        .string(name)
                        .status(IreeException.of(StatusCode.INTERNAL, "\u20ac".repeat(5000)))
                        .finish());
        assertThat(in.string("name")).isEqualTo(name);
        assertThat(in.status("").getMessage()).matches("\u20ac{1364} \\.\\.\\.");
        in.end();
        FrameWriter out = new FrameWriter(FrameType.LOADED);
        assertThatThrownBy(() -> out.string("n".repeat(70_000)))
                .hasMessageContaining("70000 bytes")
                .hasMessageContaining("65535");
    }

    @Test
    void failuresOfThePeerKeepTheirClass() {
        for (IreeException failure : List.of(
                IreeException.of(StatusCode.ABORTED, "lost", null, new DeviceLost("gpu")),
                IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "large", null, new NeverFits(1L << 40)),
                IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "full"),
                IreeException.of(StatusCode.ABORTED, "given up"))) {
            FrameReader in = new FrameReader(
                    PeerStream.QUEUE,
                    new FrameWriter(FrameType.FAIL)
                            .status(failure.during("in @main"))
                            .finish());
            IreeException read = Objects.requireNonNull(in.status("peer: "));
            in.end();
            assertThat(read).hasSameClassAs(failure).hasMessageStartingWith("peer: " + failure.getMessage());
            assertThat(read.code()).isEqualTo(failure.code());
            assertThat(read.detail(FailureDetail.class)).isEqualTo(failure.detail(FailureDetail.class));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x80, 0x40, 0xCA})
    void statusesWithoutCodeOrWithTwoDetailsAreRefused(int status) {
        FrameReader in = new FrameReader(
                PeerStream.QUEUE,
                new FrameWriter(FrameType.FAIL)
                        .u8(status)
                        .string("no")
                        .string("gpu")
                        .u64(1)
                        .finish());
        assertThatThrownBy(() -> in.status(""))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS));
    }
}

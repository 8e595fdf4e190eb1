package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A node that cannot reach another asks the client whether work there is over; the client can answer as long as anybody
 * may ask.
 */
@Timeout(60)
class AskedPointTest {
    private final TestNodes nodes = new TestNodes();
    private final Loopback loopback = new Loopback(1);
    private final RemoteNode client = nodes.node(1);
    private final RemoteNode second = nodes.node(2);
    private final RemoteNode third = nodes.node(3);
    private final Link toSecond = loopback.connect(client, second);
    private final Link toThird = loopback.connect(client, third);
    private final Link between = loopback.connect(second, third);
    private final FarWork far = new FarWork(client);

    @BeforeEach
    void open() {
        loopback.run();
    }

    @AfterEach
    void close() throws Exception {
        far.close(loopback, nodes);
    }

    private void run(TimelineSemaphore until) {
        while (!until.isReached(1) && until.failure() == null) {
            loopback.run();
            assertThat(Thread.interrupted()).as("too late").isFalse();
        }
    }

    /** Node 2 has ended the work awaited by node 3, and cannot report the end. */
    private TimelineSemaphore waiting(Device two) {
        between.hold(PeerStream.QUEUE, true);
        TimelineSemaphore first = far.fill(two.queue(0), null);
        TimelineSemaphore waiting = far.fill(far.device(3, 2).queue(0), first);
        run(first);
        assertThat(first.isReached(1)).isTrue();
        assertThat(waiting.isReached(1)).isFalse();
        return waiting;
    }

    private void assertReached(TimelineSemaphore waiting) {
        loopback.cut(between);
        run(waiting);
        assertThat(waiting.failure()).isNull();
    }

    @Test
    void aPointReachedBeforeTheLossOfItsNodeStaysReached() {
        TimelineSemaphore waiting = waiting(far.device(2, 2));
        loopback.cut(toSecond);
        loopback.run();
        assertReached(waiting);
    }

    @Test
    void aPointOfAClosedDeviceIsReached() {
        Device two = far.device(2, 2);
        TimelineSemaphore waiting = waiting(two);
        far.forgetBuffers(); // goes with its device
        two.close();
        assertReached(waiting);
    }

    @Test
    void aPointOfALostAndClosedDeviceIsReached() {
        Device two = far.device(2, 2);
        TimelineSemaphore waiting = waiting(two);
        loopback.cut(toSecond);
        loopback.run();
        far.forgetBuffers();
        two.close();
        assertReached(waiting);
    }

    @Test
    void aPointNotReachedBeforeTheLossOfItsNodeFails() {
        Device two = far.device(2, 2);
        toSecond.hold(PeerStream.QUEUE, true);
        TimelineSemaphore waiting = far.fill(far.device(3, 2).queue(0), far.fill(two.queue(0), null));
        loopback.run();
        List<Long> axes = client.session(2).lanes().stream()
                .map(RemoteLaneStatistics::axis)
                .toList();
        loopback.cut(toSecond);
        loopback.run();
        two.close();
        loopback.cut(between);
        run(waiting);
        assertThat(waiting.failure()).hasMessageContaining("was cut");
        List<@Nullable IreeException> answers = new ArrayList<>();
        axes.forEach(axis -> client.lanes().whenReached(axis, 1, answers::add));
        assertThat(answers).as("the same, at any time").hasSize(2).doesNotContainNull();
    }

    /** By the very node that served the device, and remembers some thousands of ends. */
    @Test
    void aPointOfAForgottenLaneIsReached() {
        RemoteSession session = client.session(3);
        long first = 0;
        for (int i = 0; i <= RemoteServer.CLOSED_LANES; i++) {
            RemoteDriver driver = new RemoteDriver(session, 0, 1);
            first = first != 0 ? first : ((RemoteLane) driver.lanes().getFirst()).axis();
            driver.close();
            loopback.run();
        }
        List<Byte> statuses = new ArrayList<>();
        Objects.requireNonNull(toThird.back).change(frame -> {
            if (frame[0] == FrameType.COMPLETED.number) {
                statuses.add(frame[FrameWriter.HEAD + 24]);
            }
            return frame;
        });
        long lane = client.domain().axes().allocate(CausalDomain.QUEUE);
        session.post(new FrameWriter(FrameType.OPEN_LANE).u64(lane).u16(0).u16(0));
        session.post(new FrameWriter(FrameType.COMMAND)
                .u64(lane)
                .u64(1)
                .u64(1)
                .u16(0) // no trace
                .u8(1)
                .u64(3) // served by node 3
                .u64(first)
                .u64(1)
                .u16(0)); // no steps
        loopback.run();
        assertThat(statuses).containsExactly((byte) 0);
    }

    private static FrameWriter ask(long lane, long epoch) {
        return new FrameWriter(FrameType.ASK).u64(lane).u64(epoch);
    }

    /** Commands that wait for a point need a single answer. */
    @Test
    void aPointAwaitedByManyCommandsIsAskedForOnce() {
        Device three = far.device(3, 2);
        toSecond.hold(PeerStream.QUEUE, true);
        TimelineSemaphore first = far.fill(far.device(2, 2).queue(0), null);
        List<TimelineSemaphore> waiting = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            waiting.add(far.fill(three.queue(0), first));
        }
        AtomicInteger questions = new AtomicInteger();
        Objects.requireNonNull(toThird.back).change(frame -> {
            questions.addAndGet(frame[0] == FrameType.ASK.number ? 1 : 0);
            return frame;
        });
        loopback.cut(between);
        loopback.run();
        assertThat(questions).hasValue(1);
        assertThat(client.session(3).client().questions().count()).isOne();
        toSecond.hold(PeerStream.QUEUE, false);
        waiting.forEach(this::run);
        assertThat(waiting).allMatch(each -> each.isReached(1));
        assertThat(client.session(3).client().questions().count()).isZero();
    }

    @Test
    void moreOpenQuestionsThanPointsAwaitedEndTheSession() {
        toSecond.hold(PeerStream.QUEUE, true);
        far.fill(far.device(3, 2).queue(0), far.fill(far.device(2, 2).queue(0), null));
        loopback.cut(between);
        loopback.run();
        RemoteSession asked = client.session(3);
        long lane = client.session(2).lanes().getFirst().axis();
        RemoteSession asking = third.session(1);
        for (int i = 0; i < 10; i++) {
            asking.post(ask(lane, 1)); // asked before
        }
        loopback.run();
        assertThat(asked.failure()).isNull();
        assertThat(asked.client().questions().count()).isOne();
        asking.post(ask(lane, 1000));
        loopback.run();
        assertThat(asked.failure())
                .hasMessageContaining("has 2 open questions, the limit is the 1 points awaited by commands");
        assertThat(asked.failure().code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(asked.client().questions().count()).as("of a lost peer").isZero();
        toSecond.hold(PeerStream.QUEUE, false);
    }

    @Test
    void aForgottenQuestionIsNotAnswered() {
        Device two = far.device(2, 2);
        toSecond.hold(PeerStream.QUEUE, true);
        TimelineSemaphore first = far.fill(two.queue(0), null);
        List<@Nullable IreeException> answers = new ArrayList<>();
        List<Runnable> forget = client.session(2).lanes().stream()
                .map(each -> client.lanes().whenReached(each.axis(), 1, answers::add))
                .toList();
        forget.getFirst().run();
        toSecond.hold(PeerStream.QUEUE, false);
        run(first);
        assertThat(answers).isEmpty();
    }
}

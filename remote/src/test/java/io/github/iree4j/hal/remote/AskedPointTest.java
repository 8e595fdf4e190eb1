package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node that cannot reach another asks the client whether work there is over, which knows it for as long as anybody may ask. */
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

    /** Node 2 has ended what node 3 waits for, and cannot tell it. */
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
    void aPointThatWasReachedBeforeItsNodeWasLostStaysReached() {
        TimelineSemaphore waiting = waiting(far.device(2, 2));
        loopback.cut(toSecond);
        loopback.run();
        assertReached(waiting);
    }

    @Test
    void aPointOfADeviceThatHasBeenClosedIsReached() {
        Device two = far.device(2, 2);
        TimelineSemaphore waiting = waiting(two);
        far.forgetBuffers(); // goes with its device
        two.close();
        assertReached(waiting);
    }

    @Test
    void aPointOfALostDeviceThatHasBeenClosedIsReached() {
        Device two = far.device(2, 2);
        TimelineSemaphore waiting = waiting(two);
        loopback.cut(toSecond);
        loopback.run();
        far.forgetBuffers();
        two.close();
        assertReached(waiting);
    }

    @Test
    void aPointThatWasNotReachedBeforeItsNodeWasLostFails() {
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

    /** By the very node that served it, which remembers some thousands. */
    @Test
    void aPointOfALaneThatItsNodeHasForgottenIsReached() {
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
}

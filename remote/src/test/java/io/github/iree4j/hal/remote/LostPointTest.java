package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.remote.Loopback.Link;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * REMOTE-7: the work of a lost node never ends, and the work behind it is not over either. Node 3 runs `late`, behind
 * node 5, whose commands are held up. Node 2 waits for `late`, and `behind` on node 3 waits for node 2. Behind these,
 * `reader` waits for nothing: the queue runs after `late` anyway.
 */
@Timeout(60)
class LostPointTest {
    private final TestNodes nodes = new TestNodes();
    private final Loopback loopback = new Loopback(1);
    private final RemoteNode client = nodes.node(1);
    private final FarWork far = new FarWork(client);
    private final Map<Integer, Link> links = new HashMap<>(); // of the client
    private Device third;
    private TimelineSemaphore late;

    @BeforeEach
    void connect() {
        List<RemoteNode> others = new ArrayList<>();
        for (int number = 2; number <= 5; number++) {
            RemoteNode next = nodes.node(number);
            links.put(number, loopback.connect(client, next));
            others.forEach(each -> loopback.connect(each, next));
            others.add(next);
        }
        loopback.run();
        links.get(5).hold(PeerStream.QUEUE, true);
        third = far.device(3, 2);
        late = barrier(third.queue(1), far.fill(far.device(5, 2).queue(0), null));
    }

    @AfterEach
    void close() throws Exception {
        links.get(5).hold(PeerStream.QUEUE, false);
        far.close(loopback, nodes);
    }

    /** Runs after a semaphore has reached 1, and then makes another reach 1. */
    private TimelineSemaphore barrier(DeviceQueue queue, TimelineSemaphore after) {
        TimelineSemaphore done = far.semaphore();
        try (Fence wait = Fence.at(after, 1);
                Fence signal = Fence.at(done, 1)) {
            queue.barrier(wait, signal, 0);
        }
        return done;
    }

    private TimelineSemaphore reader() {
        TimelineSemaphore reader = barrier(third.queue(0), late);
        assertThat(third.queue(0).counters().elidedFrontier()).isEqualTo(1);
        return reader;
    }

    private void lose(int node) {
        loopback.cut(links.get(node));
        loopback.run();
    }

    /** Progress of node 3 on the queue that waits for the lost point. */
    private long completed() {
        return client.session(3).lanes().stream()
                .filter(each -> each.queue() == third.queue(0).axis())
                .findFirst()
                .orElseThrow()
                .completed();
    }

    private void assertInOrder(TimelineSemaphore behind, TimelineSemaphore reader) {
        assertInOrder(0, behind, reader);
    }

    private void assertInOrder(int ended, TimelineSemaphore behind, TimelineSemaphore reader) {
        loopback.run();
        assertThat(completed()).as("commands ended by node 3").isEqualTo(ended);
        links.get(5).hold(PeerStream.QUEUE, false);
        while (!reader.isReached(1) && reader.failure() == null || behind.failure() == null) {
            loopback.run();
            assertThat(Thread.interrupted()).as("too late").isFalse();
        }
        assertThat(reader.failure()).isNull();
        assertThat(late.isReached(1)).isTrue();
        assertThat(third.failure()).isEmpty();
    }

    @Test
    void sentWorkRunsAfterTheWaitsOfTheLostNode() {
        TimelineSemaphore behind =
                barrier(third.queue(0), barrier(far.device(2, 2).queue(0), late));
        TimelineSemaphore reader = reader();
        loopback.run();
        lose(2);
        assertInOrder(behind, reader);
    }

    @Test
    void unsentWorkRunsAfterTheWaitsOfTheLostNode() {
        TimelineSemaphore behind = far.semaphore();
        try (Fence wait = Fence.at(barrier(far.device(2, 2).queue(0), late), 1);
                Fence signal = Fence.at(behind, 1)) {
            third.queue(0).update(wait, signal, MemorySegment.ofArray(new byte[64]), far.buffer(third), 0, 0);
        }
        TimelineSemaphore reader = reader();
        loopback.run();
        lose(2);
        assertInOrder(behind, reader);
    }

    /** The turn had not come before the loss. */
    @Test
    void workSentAfterTheLossRunsAfterTheWaitsOfTheLostNode() {
        links.get(4).hold(PeerStream.QUEUE, true);
        TimelineSemaphore first = far.semaphore();
        try (Fence wait = Fence.at(far.fill(far.device(4, 2).queue(0), null), 1);
                Fence signal = Fence.at(first, 1)) {
            third.queue(0).update(wait, signal, MemorySegment.ofArray(new byte[64]), far.buffer(third), 0, 0);
        }
        TimelineSemaphore behind =
                barrier(third.queue(0), barrier(far.device(2, 2).queue(0), late));
        TimelineSemaphore reader = reader();
        loopback.run();
        lose(2);
        assertThat(completed()).isZero();
        links.get(4).hold(PeerStream.QUEUE, false);
        assertInOrder(1, behind, reader);
    }

    @Test
    void aLostPointBehindAnotherIsNotOverBeforeTheOther() {
        TimelineSemaphore first = barrier(far.device(2, 2).queue(0), late);
        TimelineSemaphore behind =
                barrier(third.queue(0), barrier(far.device(4, 2).queue(1), first));
        TimelineSemaphore reader = reader();
        loopback.run();
        lose(4);
        lose(2);
        assertInOrder(behind, reader);
    }

    /** The place on the lane is reserved, and the driver has no part of the command. */
    @Test
    void workHeldBehindAFileOfTheLostDeviceKeepsItsWaits() throws InterruptedException {
        SlowFile file = new SlowFile();
        far.opened(file);
        Device second = far.device(2, 2);
        try (Fence read = Fence.at(far.semaphore(), 1)) {
            second.queue(0).read(null, read, file, 0, far.buffer(second), 0, 64, 0);
        }
        file.begun.await();
        TimelineSemaphore behind = barrier(third.queue(0), barrier(second.queue(0), late));
        links.get(2).hold(PeerStream.QUEUE, true);
        TimelineSemaphore other = far.fill(second.queue(1), null);
        TimelineSemaphore reader = reader();
        loopback.run();
        lose(2);
        while (other.failure() == null) { // the loss is known, of queue 0 before
            assertThat(Thread.interrupted()).as("too late").isFalse();
        }
        file.end.countDown();
        assertInOrder(behind, reader);
    }

    @Test
    void aLongPipelineOfTwoLostNodesIsOverWithItsFirstWait() {
        DeviceQueue[] both = {far.device(2, 2).queue(0), far.device(4, 2).queue(0)};
        TimelineSemaphore last = late;
        for (int i = 0; i < 10_000; i++) {
            last = barrier(both[i % 2], last);
        }
        TimelineSemaphore behind = barrier(third.queue(0), last);
        TimelineSemaphore reader = reader();
        loopback.run();
        lose(2);
        lose(4);
        assertInOrder(behind, reader);
    }
}

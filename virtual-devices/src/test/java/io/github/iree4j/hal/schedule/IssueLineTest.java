package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Decided operations reach the backend once, in order, and behind their waits, in spite of the backend's doings. */
class IssueLineTest {
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final VirtualDevice device = VirtualDevice.builder().build();
    private final List<AutoCloseable> toClose = new ArrayList<>(List.of(tracker, device));

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
    }

    private Fence fence() {
        TimelineSemaphore semaphore = TimelineSemaphore.create(0);
        toClose.add(semaphore);
        Fence fence = Fence.at(semaphore, 1);
        toClose.add(fence);
        return fence;
    }

    /** Takes as many operations as there is room for, and notes the awaited operations. */
    private final class Narrow extends RecordingStream {
        final QueueScheduler queue = QueueScheduler.create(domain, device, device, this);
        final List<Long> awaited = new ArrayList<>();
        int room;

        Narrow(int room) {
            this.room = room;
        }

        @Override
        public boolean issue(Issue next) {
            if (room == 0) {
                return false;
            }
            room--;
            if (next.isAwaited()) {
                awaited.add(next.epoch());
            }
            return super.issue(next);
        }

        void take(int more) {
            room += more;
            queue.issueMore();
        }
    }

    @Test // LINE-2
    void aWaitIsOnItsStreamOnceItsProducerIsOnAnotherAndNoSooner() {
        Narrow producer = new Narrow(0);
        Narrow first = new Narrow(9);
        Narrow second = new Narrow(9);
        Fence one = fence();
        Fence two = fence();
        producer.queue.submit(null, one, Nothing::new);
        producer.queue.submit(null, two, Nothing::new);
        second.queue.submit(two, fence(), Nothing::new);
        first.queue.submit(one, fence(), Nothing::new);
        assertThat(first.entries).isEmpty();
        producer.take(1);
        assertThat(first.entries).containsExactly("wait for 1", "nothing");
        assertThat(second.entries).isEmpty();
        producer.take(1);
        assertThat(second.entries).containsExactly("wait for 2", "nothing");
    }

    @Test // LINE-2
    void aWaitComingTrueWhileTheLineIsLeftHasTheNextFollowed() {
        Narrow first = new Narrow(0);
        Narrow second = new Narrow(0);
        Fence one = fence();
        Fence two = fence();
        first.queue.submit(null, one, Nothing::new);
        second.queue.submit(null, two, Nothing::new);
        Fence both = Fence.join(one, two);
        toClose.add(both);
        QueueScheduler[] queue = new QueueScheduler[1];
        RecordingStream stream = new RecordingStream() {
            @Override
            public boolean issue(Issue next) {
                boolean taken = super.issue(next);
                if (next.epoch() == 1) {
                    queue[0].submit(both, fence(), Nothing::new);
                }
                return taken;
            }

            @Override
            public void submit() {
                super.submit();
                // The line follows the queue now, and is about to be left. On a separate thread, with no callbacks held
                // back.
                CompletableFuture.runAsync(() -> first.take(1)).join();
            }
        };
        queue[0] = QueueScheduler.create(domain, device, device, stream);
        queue[0].submit(null, fence(), Nothing::new);
        assertThat(stream.entries).containsExactly("nothing");
        second.take(1);
        assertThat(stream.entries).hasSize(4).endsWith("nothing");
    }

    @Test
    void aRefusalTakenBackBeforeItsReportIsNone() {
        List<String> offers = new ArrayList<>();
        QueueScheduler[] queue = new QueueScheduler[1];
        RecordingStream stream = new RecordingStream() {
            @Override
            public boolean issue(Issue next) {
                offers.add("epoch " + next.epoch());
                if (offers.size() == 1) {
                    queue[0].issueMore();
                    return false;
                }
                return super.issue(next);
            }
        };
        queue[0] = QueueScheduler.create(domain, device, device, stream);
        queue[0].submit(null, fence(), Nothing::new);
        assertThat(offers).containsExactly("epoch 1", "epoch 1");
        assertThat(stream.entries).containsExactly("nothing");
    }

    @Test // LINE-1
    void workSubmittedDuringTheBackendsWorkComesBehind() {
        List<Long> epochs = new ArrayList<>();
        QueueScheduler[] queue = new QueueScheduler[1];
        RecordingStream stream = new RecordingStream() {
            @Override
            public boolean issue(Issue next) {
                if (epochs.isEmpty() && next.epoch() == 1) {
                    epochs.add(next.epoch());
                    queue[0].submit(null, fence(), Nothing::new);
                } else {
                    epochs.add(next.epoch());
                }
                return true;
            }

            @Override
            public void submit() {
                super.submit();
                if (submissions == 1) { // the line is empty: the busy thread re-checks
                    queue[0].submit(null, fence(), Nothing::new);
                }
            }
        };
        queue[0] = QueueScheduler.create(domain, device, device, stream);
        queue[0].submit(null, fence(), Nothing::new);
        assertThat(epochs).containsExactly(1L, 2L, 3L);
        assertThat(stream.submissions).isEqualTo(2);
    }

    @Test
    void workAwaitedByTheHostIsAwaitedAndUnawaitedWorkIsNot() {
        Narrow stream = new Narrow(9);
        Fence heard = fence();
        heard.semaphore(0).whenReached(1, (value, failure) -> {});
        stream.queue.submit(null, fence(), Nothing::new);
        stream.queue.submit(null, heard, Nothing::new);
        stream.queue.submit(null, fence(), Nothing::new);
        assertThat(stream.awaited).containsExactly(2L);
    }

    @Test
    void workDueForAWaitOfAnotherStreamIsAwaited() {
        Narrow producer = new Narrow(0);
        Narrow consumer = new Narrow(9);
        Fence produced = fence();
        producer.queue.submit(null, fence(), Nothing::new);
        producer.queue.submit(null, produced, Nothing::new);
        producer.queue.submit(null, fence(), Nothing::new);
        consumer.queue.submit(produced, fence(), Nothing::new);
        producer.take(3);
        assertThat(producer.awaited).containsExactly(2L);
    }

    @Test
    void workBeforeAWaitIsAwaited() {
        Narrow producer = new Narrow(9);
        Narrow consumer = new Narrow(0);
        Fence produced = fence();
        producer.queue.submit(null, produced, Nothing::new);
        consumer.queue.submit(null, fence(), Nothing::new);
        consumer.queue.submit(null, fence(), Nothing::new);
        consumer.queue.submit(produced, fence(), Nothing::new);
        consumer.take(3);
        assertThat(consumer.awaited).containsExactly(2L);
    }
}

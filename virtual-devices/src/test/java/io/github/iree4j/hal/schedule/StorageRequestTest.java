package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Operations in need of memory, on a stream. */
@Timeout(300)
class StorageRequestTest {
    private final FrontierTracker tracker = FrontierTracker.create();
    private final VirtualDevice device = VirtualDevice.builder().build();
    private final RecordingStream stream = new RecordingStream();
    private final QueueScheduler scheduler = QueueScheduler.create(
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY),
            device,
            device,
            stream);
    private final CountDownLatch asking = new CountDownLatch(1);
    private final CountDownLatch answered = new CountDownLatch(1);

    @AfterEach
    void close() {
        scheduler.close();
        device.close();
        tracker.close();
    }

    /** Needs slowly arriving memory. */
    private class Slow extends QueueOperation implements StorageRequest {
        private final boolean succeeds;
        private volatile boolean has;
        private volatile boolean failed;

        Slow(boolean succeeds) {
            super("slow");
            this.succeeds = succeeds;
        }

        @Override
        public boolean tryReservePresent(Frontier after, NativeTimepoints timepoints) {
            return has;
        }

        @Override
        public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
            asking.countDown();
            try {
                answered.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            if (!succeeds) {
                throw IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no more");
            }
            has = true;
            return true;
        }

        @Override
        public void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
            throw new AssertionError("there is some");
        }

        @Override
        public List<NativeTimepoint> marks() {
            return List.of();
        }

        @Override
        public Frontier premise() {
            return Frontier.EMPTY;
        }

        @Override
        public void issued(Frontier frontier) {}

        @Override
        protected void failed(IreeException cause) {
            failed = true;
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }

    @Test
    void aStreamTakesOtherWorkWhileMemoryIsBeingMapped() throws Exception {
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence ready = Fence.at(timeline, 1)) {
            Thread allocating = Thread.ofPlatform().start(() -> scheduler.submit(null, ready, () -> new Slow(true)));
            asking.await();
            scheduler.submit(null, null, Nothing::new); // with the stream's lock held meanwhile this would never return
            assertThat(stream.entries).containsExactly(new Nothing().name());
            answered.countDown();
            allocating.join();
            assertThat(stream.entries).startsWith(new Nothing().name(), "slow");
        }
    }

    @Test
    void workInNeedOfNewMemoryIsOnTheStreamWhenItsSubmissionReturns() {
        answered.countDown();
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence ready = Fence.at(timeline, 1)) {
            scheduler.submit(null, ready, () -> new Slow(true));
            assertThat(stream.entries).startsWith("slow");
            assertThat(scheduler.counters().pending()).isZero();
        }
    }

    // SCHED-1
    @Test
    void workThrowingOncePlacedEndsOnce() {
        IllegalStateException bug = new IllegalStateException("bug");
        List<String> told = new ArrayList<>();
        Slow slow = new Slow(true) {
            @Override
            public boolean tryReservePresent(Frontier after, NativeTimepoints timepoints) {
                return true;
            }

            @Override
            public void issued(Frontier frontier) {
                throw bug;
            }

            @Override
            protected void retain() {
                told.add("retained");
            }

            @Override
            protected void release() {
                told.add("released");
            }
        };
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence ready = Fence.at(timeline, 1)) {
            scheduler.submit(null, ready, () -> slow);
            scheduler.submit(null, null, Nothing::new);
            assertThat(stream.entries).as("both have their places").containsExactly("slow", new Nothing().name());
            assertThat(told).as("the stream uses it").containsExactly("retained");
            assertThat(timeline.failure()).isNull();
            scheduler.completedUpTo(2);
            assertThat(told).containsExactly("retained", "released");
            assertThat(timeline.failure()).hasCause(bug);
            assertThat(scheduler.isIdle()).isTrue();
            assertThat(scheduler.counters().submitted()).isEqualTo(2);
            assertThat(scheduler.counters().failed()).isEqualTo(1);
        }
    }

    @Test
    void workWithoutMemoryFails() {
        answered.countDown();
        Slow slow = new Slow(false);
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence ready = Fence.at(timeline, 1)) {
            scheduler.submit(null, ready, () -> slow);
            assertThat(timeline.failure()).hasMessageContaining("no more");
            assertThat(slow.failed).isTrue();
            assertThat(stream.entries).isEmpty();
        }
    }

    @Test
    void workCancelledWhileMemoryIsBeingMappedDoesNotRun() throws Exception {
        Slow slow = new Slow(true);
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence ready = Fence.at(timeline, 1)) {
            Thread allocating = Thread.ofPlatform().start(() -> scheduler.submit(null, ready, () -> slow));
            asking.await();
            scheduler.cancel(slow, IreeException.of(StatusCode.CANCELLED, "no longer wanted"));
            assertThat(timeline.failure()).hasMessageContaining("no longer wanted");
            assertThat(slow.failed).isTrue();
            answered.countDown();
            allocating.join();
            assertThat(stream.entries).isEmpty();
            assertThat(scheduler.counters().pending()).isZero();
        }
    }
}

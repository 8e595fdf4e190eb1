package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Collectives on devices with streams, and with a device that is lost. */
class CollectivesOfStreamsTest extends CollectiveFixture {
    private static final int FULL = 0x3F;

    @Test
    void onAStreamWorkBehindTheLastCollectiveIsPromisedWhenIssued() {
        VirtualClock clock = VirtualClock.stepped();
        device.close();
        device = closed(VirtualDevice.builder().clock(clock).fifoQueues(2).build());
        List<Channel> channels = channels("promised", 2);
        Buffer first = ints(1);
        Buffer second = ints(2);
        Fence done = submit(0, null, commands(commands -> {
            commands.collective(channels.get(0), SUM, 0, BufferRef.of(first), BufferRef.of(first), 1);
            commands.executionBarrier(FULL, FULL, 0);
            commands.fillBuffer(BufferRef.of(second), 6, 4, 0);
        }));
        clock.runUntilIdle();
        assertThat(done.semaphore(0).frontierAt(1))
                .as("no promise before the others arrive")
                .isNull();
        Fence after = fence();
        device.queue(1).barrier(done, after, 0); // held back, until the promise
        Buffer other = ints(3);
        submit(1, null, one(channels.get(1), SUM, 0, other, other, 1));
        while (device.queue(1).counters().pending() > 0) {
            assertThat(clock.step()).isTrue();
        }
        assertThat(done.isReached()).isFalse();
        assertThat(frontier(done).producerAxis()).isEqualTo(device.queue(0).axis());
        clock.runUntilIdle();
        assertReached(List.of(done, after));
        assertThat(read(second)).containsExactly(6);
    }

    @Test
    void streamsMeetAsWell() {
        VirtualClock clock = VirtualClock.stepped();
        device.close();
        device = closed(VirtualDevice.builder().clock(clock).fifoQueues(2).build());
        List<Channel> channels = channels("streams", 2);
        Buffer first = ints(1);
        Buffer second = ints(2);
        Fence a = submit(0, null, one(channels.get(0), SUM, 0, first, first, 1));
        clock.runUntilIdle();
        assertThat(a.isReached()).isFalse();
        Fence b = submit(1, null, one(channels.get(1), SUM, 0, second, second, 1));
        Fence after = fence();
        device.queue(0).barrier(closed(Fence.join(a, b)), after, 0);
        clock.runUntilIdle();
        assertReached(List.of(a, b, after));
        assertThat(read(first)).containsExactly(3);
        assertThat(frontier(a)).isEqualTo(frontier(b));
        assertThat(frontier(a).size()).isOne();
    }

    @Test
    void aLostDeviceFailsOnlyItsWaiters() {
        VirtualClock clock = VirtualClock.stepped();
        VirtualDevice lost = closed(VirtualDevice.builder().clock(clock).build());
        VirtualDevice other = closed(VirtualDevice.builder().clock(clock).build());
        device.close();
        device = other;
        Channel mine = closed(other.createChannel(-1, ChannelParams.of("lost", 0, 2)));
        Channel theirs = closed(lost.createChannel(-1, ChannelParams.of("lost", 1, 2)));
        List<Channel> unrelated = channels("unrelated", 2);
        Fence waits = submit(0, null, one(mine, SUM, 0, ints(1), ints(0), 1));
        Fence half = submit(0, null, one(unrelated.get(0), SUM, 0, ints(1), ints(0), 1));
        clock.runUntilIdle();
        IreeException cause = IreeException.of(StatusCode.UNAVAILABLE, "fell off the bus");
        lost.lose(cause);
        assertThat(waits.failure().orElseThrow()).cause().isSameAs(cause);
        Fence late = submit(0, null, one(mine, SUM, 0, ints(1), ints(0), 1));
        clock.runUntilIdle();
        assertThat(late.failure().orElseThrow()).cause().isSameAs(cause);
        Fence later = closed(Fence.at(closed(TimelineSemaphore.create(0)), 1));
        lost.queue(0).execute(null, later, one(theirs, SUM, 0, ints(1), ints(0), 1), null, 0);
        assertThat(later.failure().orElseThrow()).cause().isSameAs(cause);
        Fence whole = submit(0, null, one(unrelated.get(1), SUM, 0, ints(1), ints(0), 1));
        clock.runUntilIdle();
        assertReached(List.of(half, whole));
    }
}

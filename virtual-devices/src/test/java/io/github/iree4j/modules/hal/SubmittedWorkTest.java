package io.github.iree4j.modules.hal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SubmittedWorkTest {
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final Device device = closed(VirtualDevice.builder()
            .clock(VirtualClock.automatic())
            .fifoQueues(1)
            .build());
    private final SubmittedWork work = closed(new SubmittedWork());

    private <T extends AutoCloseable> T closed(T each) {
        toClose.add(each);
        return each;
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
    }

    private static MemoryHolder call(String name) {
        return new MemoryHolder(name, new OperationsUnderWay());
    }

    private void in(MemoryHolder call, Runnable action) {
        MemoryHolder before = call.enter();
        try {
            action.run();
        } finally {
            call.leave(before);
        }
    }

    private Fence fence() {
        return closed(Fence.at(closed(TimelineSemaphore.create(0)), 1));
    }

    @Test
    void aFenceWaitsOnlyForSubmissionsOfItsCall() {
        MemoryHolder one = call("one");
        MemoryHolder other = call("other");
        Fence ofOne = fence();
        Fence ofOther = fence();
        in(one, () -> work.add(device.queue(0), ofOne));
        in(other, () -> work.add(device.queue(0), ofOther));
        Fence done = fence();
        in(one, () -> work.signal(done));
        assertThat(done.query()).isEqualTo(StatusCode.DEFERRED);
        ofOne.signal();
        assertThat(done.isReached()).isTrue();
        Fence again = fence();
        in(one, () -> work.signal(again));
        assertThat(again.isReached()).as("with nothing submitted since").isTrue();
    }

    @Test
    void aSecondSignalComesAfterTheFirst() {
        MemoryHolder call = call("call");
        TimelineSemaphore timeline = closed(TimelineSemaphore.create(0));
        Fence first = closed(Fence.at(timeline, 1));
        Fence second = closed(Fence.at(timeline, 2));
        Fence submitted = fence();
        in(call, () -> {
            work.add(device.queue(0), submitted);
            work.signal(first);
            work.signal(second);
        });
        assertThat(timeline.value()).isZero();
        submitted.signal();
        assertThat(timeline.value()).isEqualTo(2);
        assertThat(timeline.failure()).isNull();
    }

    @Test
    void aFenceOfTheProgramIsSignalledAtOnceForItsWorkMayWaitForIt() {
        MemoryHolder call = call("call");
        Fence own = fence();
        Fence submitted = fence();
        in(call, () -> {
            work.made(own);
            device.queue(0).barrier(own, submitted, 0);
            work.add(device.queue(0), submitted);
            work.signal(own);
        });
        assertThat(submitted.isReached()).isTrue();
    }

    @Test
    void callsEndingWithoutASignalAreForgotten() {
        TimelineSemaphore timeline = closed(TimelineSemaphore.create(0));
        List<Fence> kept = new ArrayList<>();
        for (int i = 1; i <= 1000; i++) {
            MemoryHolder call = call("call " + i);
            Fence signal = Fence.at(timeline, i);
            in(call, () -> work.add(device.queue(0), signal));
            call.end();
            signal.release();
            kept.add(signal);
        }
        assertThat(kept.stream().filter(Fence::isLive)).hasSizeLessThan(10);
    }

    @Test
    void reachedSignalsAreDroppedDuringACall() {
        MemoryHolder call = call("call");
        TimelineSemaphore timeline = closed(TimelineSemaphore.create(0));
        List<Fence> kept = new ArrayList<>();
        in(call, () -> {
            for (int i = 1; i <= 1000; i++) {
                Fence signal = Fence.at(timeline, i);
                work.add(device.queue(0), signal);
                signal.release();
                kept.add(signal);
                timeline.signal(i);
            }
        });
        assertThat(kept.stream().filter(Fence::isLive)).hasSizeLessThan(200);
    }
}

package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * REMOTE-8: the host of the client ends, or leaves out, transfers of files, and so raises lanes; other lanes wait for
 * the raised points at the peer.
 */
@Timeout(60)
class ClosedLaneTest {
    private static final BufferParams NEAR = new BufferParams(
            MemoryType.HOST_LOCAL | MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE,
            BufferUsage.DEFAULT | BufferUsage.MAPPING);

    private static final BufferParams FAR = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    private final TestNodes nodes = new TestNodes();
    private final Loopback loopback = new Loopback(1);
    private final RemoteNode one = nodes.node(1);
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        one.close(); // devices wait for hanging work
        loopback.start();
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        nodes.close();
        loopback.stop();
    }

    private Device far() {
        return far(StreamDevice.CLOSE_LIMIT);
    }

    private Device far(Duration closeLimit) {
        RemoteSession session = one.session(2);
        DeviceOptions options = DeviceOptions.builder()
                .queueCount(2)
                .schedulingDomain(one.domain())
                .build();
        return session.openDevice(session.devices().getFirst().id(), options, closeLimit);
    }

    private TimelineSemaphore semaphore() {
        TimelineSemaphore made = TimelineSemaphore.create(0);
        opened.add(made);
        return made;
    }

    private TimelineSemaphore read(Device device, Buffer target, SlowFile file) {
        TimelineSemaphore done = semaphore();
        try (Fence signal = Fence.at(done, 1)) {
            device.queue(0).read(null, signal, file, 0, target, 0, 64, 0);
        }
        return done;
    }

    private static void end(SlowFile file, TimelineSemaphore read) {
        file.end.countDown();
        while (!read.isReached(1)) {
            assertThat(Thread.interrupted()).as("too late").isFalse();
        }
        file.close();
    }

    /** The peer takes a single command of a lane at a time, and ends no command before the device is closed. */
    @Test
    void aPeerLearnsTheProgressOfALaneClosedBeforeThereWasRoom() {
        RemoteNode two = nodes.node(2, new RemoteOptions(256 << 10, 1, 1L << 40, 1 << 16, 256L << 20, 4 << 20));
        loopback.connect(one, two);
        loopback.run();
        Device closing = far();
        Device other = far();
        opened.add(other);
        TimelineSemaphore behind = semaphore();
        try (Buffer near = closing.allocator().allocate(NEAR, 64)) {
            SlowFile first = new SlowFile();
            end(first, read(closing, near, first));
            SlowFile second = new SlowFile();
            TimelineSemaphore read = read(closing, near, second);
            try (Fence wait = Fence.at(read, 1);
                    Fence signal = Fence.at(behind, 1)) {
                other.queue(0).barrier(wait, signal, 0);
            }
            end(second, read);
        }
        closing.close();
        loopback.run();
        assertThat(two.session(1).statistics().commandsOfPeer())
                .as("that wait for the closed lane")
                .isZero();
        assertThat(two.session(1).servedLanes()).as("of the other device").hasSize(2);
        runUntil(() -> behind.isReached(1));
    }

    private TimelineSemaphore fill(DeviceQueue queue, Buffer target) {
        TimelineSemaphore done = semaphore();
        try (Fence signal = Fence.at(done, 1)) {
            queue.fill(null, signal, target, 0, 64, 1, 1, 0);
        }
        return done;
    }

    private void runUntil(BooleanSupplier done) {
        while (!done.getAsBoolean()) {
            loopback.run();
            assertThat(Thread.interrupted()).as("too late").isFalse();
        }
    }

    /** The lane is idle, and the waiter of the device, which is in a callback, has not seen yet that the step is due. */
    @Test
    void aPeerLearnsOfTheEndOfAStepNotRunByAClosedDevice() throws InterruptedException {
        RemoteNode two = nodes.node(2);
        loopback.connect(one, two);
        loopback.run();
        Device closing = far(Duration.ofMillis(300)); // the callback holds up the end, so the device is abandoned
        Device other = far();
        opened.add(other);
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        TimelineSemaphore behind = semaphore();
        try (Buffer far = closing.allocator().allocate(FAR, 64);
                HalFile file = HalFile.ofMemory(MemorySegment.ofArray(new byte[64]), MemoryAccess.WRITE, null)) {
            fill(closing.queue(1), far).whenReached(1, (_, _) -> {
                called.countDown();
                try {
                    over.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            runUntil(() -> called.getCount() == 0);
            try (Fence written = Fence.at(semaphore(), 1)) {
                closing.queue(0).write(null, written, far, 0, file, 0, 64, 0);
            }
            try (Fence wait = Fence.at(fill(closing.queue(0), far), 1);
                    Fence signal = Fence.at(behind, 1)) {
                other.queue(0).barrier(wait, signal, 0);
            }
        }
        loopback.run();
        assertThat(two.session(1).statistics().commandsOfPeer())
                .as("waiters for points behind the step")
                .isEqualTo(1);
        Thread closer = Thread.ofPlatform().start(closing::close);
        runUntil(() -> behind.failure() != null);
        assertThat(two.session(1).statistics().commandsOfPeer()).isZero();
        over.countDown();
        closer.join();
    }
}

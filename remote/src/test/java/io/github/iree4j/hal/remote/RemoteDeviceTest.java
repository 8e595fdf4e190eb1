package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A device of another node, step by step. */
@Timeout(60)
class RemoteDeviceTest {
    @Test
    void bytesGoThereAndComeBack() {
        RemoteBackend backend = new RemoteBackend();
        try (Device device = backend.open(DeviceOptions.builder().queueCount(2));
                Buffer buffer = device.allocator()
                        .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 1 << 16);
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence filled = Fence.at(timeline, 1)) {
            device.queue(0).fill(null, filled, buffer, 0, 1 << 16, 0x01020304, 4, 0);
            filled.await(Duration.ofSeconds(20));
            byte[] bytes = new byte[1 << 16];
            buffer.read(0, MemorySegment.ofArray(bytes));
            assertThat(bytes).startsWith(4, 3, 2, 1, 4).endsWith(2, 1);
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) (i * 31);
            }
            buffer.write(0, MemorySegment.ofArray(bytes));
            byte[] again = new byte[1 << 16];
            buffer.read(0, MemorySegment.ofArray(again));
            assertThat(again).isEqualTo(bytes);
        } finally {
            backend.close();
        }
    }

    @Test
    void codeRefusedByThePeerLeavesNothingThere() {
        int limit = 8;
        RemoteOptions options = new RemoteOptions(1 << 10, 16, 1 << 20, limit, 1 << 20, 1 << 12);
        Loopback loopback = new Loopback(3);
        try (TestNodes nodes = new TestNodes()) {
            RemoteNode one = nodes.node(1, options);
            loopback.connect(one, nodes.node(2, options));
            loopback.run();
            loopback.start();
            RemoteSession session = one.session(2);
            RemoteDriver driver = new RemoteDriver(session, 0, 1);
            ExecutableParams code =
                    new ExecutableParams("unknown", MemorySegment.ofArray(new byte[5000]), null, new int[0]);
            for (int i = 0; i < 2 * limit; i++) {
                assertThatThrownBy(() -> driver.load(code)).hasMessageContaining("node 2");
            }
            assertThat(session.transfers().count()).isZero();
            assertThat(session.isOpen()).isTrue();
            driver.close();
        } finally {
            loopback.stop();
        }
    }

    /** Also where each waits for the previous command, and the place behind it must be kept. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void excessWaitingOperationsFailAlone(boolean chained) {
        int count = 20_000;
        Loopback loopback = new Loopback(5);
        try (TestNodes nodes = new TestNodes()) {
            RemoteNode one = nodes.node(1);
            Loopback.Link there = loopback.connect(one, nodes.node(2));
            loopback.run();
            loopback.start();
            RemoteSession session = one.session(2);
            DeviceOptions options = DeviceOptions.builder()
                    .queueCount(1)
                    .schedulingDomain(one.domain())
                    .build();
            List<Fence> fences = new ArrayList<>();
            int reached = 0;
            int exhausted = 0;
            try (Device device = session.openDevice(session.devices().getFirst().id(), options);
                    Buffer buffer = device.allocator()
                            .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 16)) {
                there.hold(PeerStream.QUEUE, true);
                for (int i = 0; i < count; i++) {
                    TimelineSemaphore timeline = TimelineSemaphore.create(0);
                    fences.add(Fence.at(timeline, 1));
                    timeline.close();
                    Fence wait = chained && i > 0 ? fences.get(i - 1) : null;
                    device.queue(0).fill(wait, fences.get(i), buffer, 0, 16, i, 4, 0);
                }
                there.hold(PeerStream.QUEUE, false);
                for (Fence each : fences) {
                    try {
                        each.await(Duration.ofSeconds(60));
                        reached++;
                    } catch (IreeException e) {
                        assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                        exhausted++;
                    }
                }
                assertThat(reached).isGreaterThanOrEqualTo(1 << 14);
                assertThat(exhausted).isPositive();
                try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                        Fence after = Fence.at(timeline, 1)) {
                    device.queue(0).fill(null, after, buffer, 0, 16, 7, 4, 0);
                    after.await(Duration.ofSeconds(60));
                }
                assertThat(device.failure()).isEmpty();
            } finally {
                fences.forEach(Fence::close);
            }
        } finally {
            loopback.stop();
        }
    }

    @Test
    void lanesOfClosedDevicesDoNotCountAndCanStillBeAskedFor() {
        int limit = 8;
        RemoteOptions options = new RemoteOptions(1 << 10, 16, 1 << 20, limit, 1 << 20, 1 << 12);
        Loopback loopback = new Loopback(3);
        try (TestNodes nodes = new TestNodes()) {
            RemoteNode one = nodes.node(1, options);
            loopback.connect(one, nodes.node(2, options));
            loopback.run();
            RemoteSession session = one.session(2);
            List<Long> axes = new ArrayList<>();
            for (int i = 0; i < 3 * limit; i++) {
                RemoteDriver driver = new RemoteDriver(session, 0, 2);
                for (Lane each : driver.lanes()) {
                    RemoteLane lane = (RemoteLane) each;
                    lane.signalled(1);
                    axes.add(lane.axis());
                }
                driver.close();
                loopback.run();
            }
            assertThat(session.failure()).isNull();
            for (long axis : axes) {
                TimelineSemaphore lane = session.semaphore(axis, 1);
                loopback.run();
                assertThat(lane.value()).isEqualTo(1);
                session.forget(lane);
                lane.close();
            }
        }
    }

    /** Then a server that has forgotten a lane takes all earlier commands for forgotten, too. */
    @Test
    void lanesAreOpenedInTheOrderOfTheirAxes() throws InterruptedException {
        Loopback loopback = new Loopback(3);
        List<Long> axes = Collections.synchronizedList(new ArrayList<>());
        try (TestNodes nodes = new TestNodes()) {
            RemoteNode one = nodes.node(1);
            loopback.connect(one, nodes.node(2), (_, frame) -> {
                if (frame[0] == FrameType.OPEN_LANE.number) {
                    axes.add(ByteBuffer.wrap(frame)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .getLong(FrameWriter.HEAD));
                }
            });
            loopback.run();
            together(() -> {
                for (int i = 0; i < 2000; i++) {
                    new RemoteDriver(one.session(2), 0, 1).close();
                }
            });
        }
        assertThat(axes).hasSize(4000).isSorted();
    }

    /** Requests over the limit take nothing from others, not for a moment. */
    @Test
    void availableMemoryIsGrantedDespiteRefusalsMeanwhile() throws InterruptedException {
        Loopback loopback = new Loopback(3);
        try (TestNodes nodes = new TestNodes()) {
            RemoteNode one = nodes.node(1);
            loopback.connect(one, nodes.node(2));
            loopback.run();
            RemoteDriver driver = new RemoteDriver(one.session(2), 0, 1);
            long limit = driver.info().memoryLimit();
            AtomicBoolean first = new AtomicBoolean();
            together(() -> {
                boolean large = first.compareAndSet(false, true);
                for (int i = 0; i < 20_000; i++) {
                    if (large) {
                        assertThatThrownBy(() -> driver.charge(limit + 1)).isInstanceOf(IreeException.class);
                    } else {
                        driver.charge(1);
                        driver.uncharge(1);
                    }
                }
            });
            driver.close();
        }
    }

    /** Runs an action on two threads at once; neither may throw. */
    private static void together(Runnable work) throws InterruptedException {
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        CyclicBarrier barrier = new CyclicBarrier(2);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    barrier.await();
                    work.run();
                } catch (Exception | AssertionError e) {
                    thrown.add(e);
                }
            }));
        }
        for (Thread each : threads) {
            each.join();
        }
        assertThat(thrown).isEmpty();
    }

    @Test
    void aForgottenLaneIsAnswered() {
        Loopback loopback = new Loopback(3);
        try (TestNodes nodes = new TestNodes()) {
            RemoteNode one = nodes.node(1);
            loopback.connect(one, nodes.node(2));
            loopback.run();
            RemoteSession session = one.session(2);
            long first = 0;
            for (int i = 0; i <= RemoteServer.CLOSED_LANES; i++) {
                RemoteDriver driver = new RemoteDriver(session, 0, 1);
                first = first != 0 ? first : ((RemoteLane) driver.lanes().getFirst()).axis();
                driver.close();
                loopback.run();
            }
            TimelineSemaphore lane = session.semaphore(first, 1);
            loopback.run();
            assertThat(lane.failure()).hasMessageContaining("was closed");
            lane.close();
            assertThat(session.failure()).isNull();
        }
    }

    @Test
    void aCommandOfManyTransfersTakesMemoryInProportion() {
        int count = 6000;
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        RemoteBackend backend = new RemoteBackend();
        BufferParams near = new BufferParams(
                MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);
        try (Device device = backend.open(DeviceOptions.builder().queueCount(1));
                Buffer host = device.allocator().allocate(near, 8L * count);
                CommandBuffer commands = device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0);
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1)) {
            for (int i = 0; i < count; i++) {
                commands.fillBuffer(BufferRef.of(host, 8L * i, 4), i, 4, 0);
            }
            commands.finish();
            long before = threads.getTotalThreadAllocatedBytes();
            device.queue(0).execute(null, done, commands, BindingTable.of(), 0);
            done.await(Duration.ofSeconds(50));
            assertThat(threads.getTotalThreadAllocatedBytes() - before)
                    .as("bytes for %d transfers", 2 * count)
                    .isLessThan(100 << 20);
            byte[] last = new byte[4];
            host.read(8L * (count - 1), MemorySegment.ofArray(last));
            assertThat(last).containsExactly((byte) (count - 1), (count - 1) >> 8, 0, 0);
        } finally {
            backend.close();
        }
    }

    /** Each range of the commands is named in the run: 24 bytes of a frame that has room for 1 MiB. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void commandsWithMoreRangesThanAFrameHasRoomForFailAlone(boolean oneShot) {
        int count = 50_000;
        RemoteBackend backend = new RemoteBackend();
        try (Device device = backend.open(DeviceOptions.builder().queueCount(1));
                Buffer far = device.allocator()
                        .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 8L * count);
                CommandBuffer commands = device.createCommandBuffer(
                        oneShot ? CommandBuffer.ONE_SHOT : 0, CommandBuffer.TRANSFER, -1, 0);
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1);
                TimelineSemaphore other = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence filled = Fence.at(other, 1)) {
            for (int i = 0; i < count; i++) {
                commands.fillBuffer(BufferRef.of(far, 8L * i, 4), i, 4, 0);
            }
            commands.finish();
            device.queue(0).execute(null, done, commands, BindingTable.of(), 0);
            assertThatThrownBy(() -> done.await(Duration.ofSeconds(50)))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
            device.queue(0).fill(null, filled, far, 0, 16, 7, 4, 0);
            filled.await(Duration.ofSeconds(50));
            assertThat(device.failure()).isEmpty();
        } finally {
            backend.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 5000, (1 << 20) + 17, 3 << 20})
    void constantsAreSentOncePerContent(int size) {
        AtomicLong sent = new AtomicLong();
        RemoteBackend backend = new RemoteBackend(2, (stream, frame) -> sent.addAndGet(frame.length));
        byte[] constants = new byte[size];
        new Random(size).nextBytes(constants);
        try {
            List<Long> costs = new ArrayList<>();
            for (int load = 0; load < 3; load++) {
                if (load == 2) {
                    constants[size / 2]++; // other content
                }
                long before = sent.get();
                try (Device device = backend.open(DeviceOptions.builder().queueCount(1));
                        Buffer buffer = device.allocator()
                                .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), size);
                        HalFile file = HalFile.ofMemory(MemorySegment.ofArray(constants), MemoryAccess.READ, null);
                        TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                        Fence read = Fence.at(timeline, 1)) {
                    device.queue(0).read(null, read, file, 0, buffer, 0, size, 0);
                    read.await(Duration.ofSeconds(50));
                    costs.add(sent.get() - before);
                    byte[] there = new byte[size];
                    buffer.read(0, MemorySegment.ofArray(there));
                    assertThat(there).isEqualTo(constants);
                }
            }
            assertThat(costs.get(0)).isGreaterThan(size);
            if (size >= Step.LEAST_CONTENT) {
                assertThat(costs.get(1)).as("frames without the bytes").isLessThan(2000);
            }
            assertThat(costs.get(2)).as("of the differing piece").isGreaterThan(Math.min(size, 1 << 20) / 2);
        } finally {
            backend.close();
        }
    }
}

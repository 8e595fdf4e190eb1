package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node with a device that has no memory for its peer at first, and has some later. */
@Timeout(60)
class RemoteShortageTest {
    private static final long LIMIT = 64 << 20;
    private static final int SIZE = 20 << 20;
    private static final BufferParams PARAMS = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    private static final BufferParams HERE = new BufferParams(
            MemoryType.HOST_LOCAL | MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE,
            BufferUsage.DEFAULT | BufferUsage.MAPPING);

    private static void fill(Device device, Buffer buffer, int pattern) {
        try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence filled = Fence.at(timeline, 1)) {
            device.queue(0).fill(null, filled, buffer, 0, SIZE, pattern, 4, 0);
            filled.await(Duration.ofSeconds(30));
        }
    }

    @Test
    void memoryShortForAWhileServesLater() {
        Loopback loopback = new Loopback(7);
        NodeIdentity identity = new NodeIdentity(TestNodes.CLUSTER, 2, 1, 2);
        SchedulingDomain domain = TestNodes.domain(identity);
        try (TestNodes nodes = new TestNodes();
                VirtualDevice served = VirtualDevice.builder()
                        .clock(VirtualClock.automatic())
                        .schedulingDomain(domain)
                        .memoryLimit(LIMIT)
                        .build();
                RemoteNode two =
                        RemoteNode.builder(identity, domain).device(served).build()) {
            RemoteNode one = nodes.node(1);
            loopback.connect(one, two);
            loopback.run();
            loopback.start();
            RemoteSession session = one.session(2);
            DeviceOptions options = DeviceOptions.builder()
                    .queueCount(1)
                    .schedulingDomain(one.domain())
                    .build();
            try (Device far = session.openDevice(served.id(), options);
                    Buffer kept = far.allocator().allocate(PARAMS, SIZE)) {
                fill(far, kept, 1);
                try (Buffer own = served.allocator().allocate(PARAMS, LIMIT - SIZE - (1 << 20));
                        Buffer buffer = far.allocator().allocate(PARAMS, SIZE)) {
                    for (int i = 0; i < 3; i++) {
                        assertThatThrownBy(() -> fill(far, buffer, 2))
                                .isInstanceOfSatisfying(
                                        IreeException.class,
                                        e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
                        assertThatThrownBy(
                                        () -> buffer.read(0, MemorySegment.ofArray(new byte[4]))) // bytes are expected
                                .hasMessageContaining("%d bytes", SIZE);
                        assertThat(session.failure()).isNull();
                    }
                    assertThat(own.length()).isPositive();
                }
                try (Buffer buffer = far.allocator().allocate(PARAMS, SIZE)) { // the same, from the pool of this side
                    fill(far, buffer, 0x04030201);
                    byte[] bytes = new byte[SIZE];
                    buffer.read(0, MemorySegment.ofArray(bytes));
                    assertThat(bytes).startsWith(1, 2, 3, 4, 1).endsWith(3, 4);
                }
                assertThat(session.failure()).isNull();
            }
            loopback.stop();
        }
    }

    /** Each brings bytes to this side, and the bytes do not come; succeeding copies are in flight meanwhile. */
    private static void copiesFailAlone(Device device, Buffer without) {
        List<Fence> copied = new ArrayList<>();
        try (Buffer with = device.allocator().allocate(PARAMS, 64);
                Buffer here = device.allocator().allocate(HERE, 128)) {
            for (int i = 0; i < 100; i++) {
                Fence good = Fence.adopt(TimelineSemaphore.create(0), 1);
                Fence bad = Fence.adopt(TimelineSemaphore.create(0), 1);
                copied.addAll(List.of(good, bad));
                device.queue(0).copy(null, good, with, 0, here, 0, 64, 0);
                device.queue(0).copy(null, bad, without, 0, here, 64, 64, 0);
                if (i % 4 == 0) {
                    assertThatThrownBy(() -> bad.await(Duration.ofSeconds(30)))
                            .isInstanceOfSatisfying(
                                    IreeException.class,
                                    e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
                }
            }
            for (int i = 0; i < copied.size(); i += 2) {
                copied.get(i).await(Duration.ofSeconds(30));
            }
        } finally {
            copied.forEach(Fence::close);
        }
    }

    /** Of the host, for code and recordings of a peer: a refused recording is recorded again. */
    @Test
    void commandsWithoutRoomRunLater() {
        Loopback loopback = new Loopback(8);
        RemoteOptions little = new RemoteOptions(256 << 10, 1024, 1 << 30, 1 << 16, 1 << 20, 4 << 20);
        try (TestNodes nodes = new TestNodes()) {
            RemoteNode one = nodes.node(1);
            loopback.connect(one, nodes.node(2, little));
            loopback.run();
            loopback.start();
            RemoteSession session = one.session(2);
            DeviceOptions options = DeviceOptions.builder()
                    .queueCount(1)
                    .schedulingDomain(one.domain())
                    .build();
            try (Device far = session.openDevice(session.devices().getFirst().id(), options);
                    Buffer buffer = far.allocator().allocate(PARAMS, 64);
                    CommandBuffer commands = far.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0)) {
                commands.fillBuffer(BufferRef.of(buffer, 0, 64), 7, 4, 0);
                commands.finish();
                List<Long> others = new ArrayList<>();
                for (int count = 1 << 16; count > 0; count = others.size() < 8 ? count : count / 2) {
                    others.add(session.node().handle());
                    session.post(new FrameWriter(FrameType.RECORD)
                            .u64(others.getLast())
                            .u16(0) // device
                            .u16(1) // slots
                            .u32(count)
                            .bytes(new byte[count])); // barriers
                }
                for (int i = 0; i < 2; i++) {
                    assertThatThrownBy(() -> execute(far, commands))
                            .hasMessageContaining("bytes that one peer may have");
                }
                others.forEach(session.client()::release);
                execute(far, commands);
                assertThat(session.failure()).isNull();
            }
            loopback.stop();
        }
    }

    private static void execute(Device device, CommandBuffer commands) {
        try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1)) {
            device.queue(0).execute(null, done, commands, BindingTable.of(), 0);
            done.await(Duration.ofSeconds(30));
        }
    }
}

package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
    void codeThatThePeerRefusesLeavesNothingThere() {
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

    /** Also where each waits for the one before, and its place must be kept behind it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatExceedsTheLimitOfWaitingOperationsFailsAlone(boolean chained) {
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
                assertThat(device.failure()).isNull();
            } finally {
                fences.forEach(Fence::close);
            }
        } finally {
            loopback.stop();
        }
    }
}

package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.remote.Loopback.Link;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * REMOTE-4, REMOTE-5: random work on three nodes, with nodes lost in the middle: every operation ends once, and no
 * frontier lies.
 */
@Timeout(120)
class RemoteHistoryTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void everyOperationEndsOnceWhoeverIsLost(long seed) throws Exception {
        Random random = new Random(seed);
        Loopback loopback = new Loopback(seed).repeats(10).capacity(2 + random.nextInt(50));
        History history = new History();
        List<AutoCloseable> opened = new ArrayList<>();
        List<RemoteNode> nodes = new ArrayList<>();
        List<Link> links = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            NodeIdentity identity = new NodeIdentity(TestNodes.CLUSTER, i, (int) seed, i);
            var domain = TestNodes.domain(identity);
            Device cpu = new LocalBackend()
                    .open(DeviceOptions.builder().queueCount(2).schedulingDomain(domain));
            opened.addFirst(cpu);
            RemoteNode node = RemoteNode.builder(identity, domain).device(cpu).build();
            opened.addFirst(node);
            nodes.add(node);
        }
        for (int i = 0; i < 3; i++) {
            for (int j = i + 1; j < 3; j++) {
                RemoteNode from = nodes.get(i);
                RemoteNode to = nodes.get(j);
                Link link = loopback.connect(from, to);
                link.change(frame -> history.sent(from, to, frame));
                link.back.change(frame -> history.sent(to, from, frame));
                links.add(link);
            }
        }
        loopback.run();
        loopback.start();
        opened.addFirst(loopback::stop);
        RemoteNode first = nodes.getFirst();
        List<Device> devices = new ArrayList<>();
        List<Buffer> buffers = new ArrayList<>();
        List<Executable> kernels = new ArrayList<>();
        for (int i = 2; i <= 3; i++) {
            RemoteSession session = first.session(i);
            Device device = session.openDevice(
                    session.devices().getFirst().id(),
                    DeviceOptions.builder()
                            .queueCount(2)
                            .schedulingDomain(first.domain())
                            .build());
            opened.addFirst(device);
            devices.add(device);
            kernels.add(JavaKernels.load(device));
            opened.addFirst(kernels.getLast());
            Buffer buffer =
                    device.allocator().allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), 4096);
            buffers.add(buffer);
            opened.addFirst(buffer);
        }
        List<Fence> fences = new ArrayList<>();
        int cutAt = seed % 3 == 0 ? -1 : 50 + random.nextInt(150);
        for (int i = 0; i < 300; i++) {
            if (i == cutAt) {
                loopback.cut(links.get(random.nextInt(links.size())));
            }
            int on = random.nextInt(2);
            List<@Nullable Fence> waits = new ArrayList<>();
            for (int w = random.nextInt(3); w > 0 && !fences.isEmpty(); w--) {
                waits.add(fences.get(Math.max(0, fences.size() - 1 - random.nextInt(20))));
            }
            Fence wait = Fence.joinNullable(waits);
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            Fence done = Fence.adopt(timeline, 1);
            fences.add(done);
            try {
                if (random.nextInt(3) == 0) {
                    devices.get(on).queue(random.nextInt(2)).barrier(wait, done, 0);
                } else if (random.nextInt(20) == 0) {
                    devices.get(on)
                            .queue(random.nextInt(2))
                            .dispatch(
                                    wait,
                                    done,
                                    kernels.get(on),
                                    JavaKernels.FAIL,
                                    DispatchConfig.of(1, 1, 1),
                                    new int[0],
                                    BindingTable.of(),
                                    0);
                } else {
                    devices.get(on)
                            .queue(random.nextInt(2))
                            .fill(wait, done, buffers.get(on), 64L * random.nextInt(60), 64, i, 1, 0);
                }
            } finally {
                opened.addFirst(done);
                if (wait != null) {
                    opened.addFirst(wait);
                }
            }
        }
        int ended = 0;
        for (Fence fence : fences) {
            try {
                fence.await(LIMIT);
                ended++;
            } catch (IreeException e) {
                assertThat(e.code()).as("seed %d: %s", seed, e).isNotEqualTo(StatusCode.DEADLINE_EXCEEDED);
                assertThat(e.getMessage()).as("seed %d", seed).doesNotContain("does not hold");
                assertThat(cutAt >= 0 || e.getMessage().contains("on purpose"))
                        .as("seed %d: %s", seed, e)
                        .isTrue();
            }
        }
        history.verify(seed);
        assertThat(history.ends).isPositive();
        if (cutAt < 0) {
            assertThat(ended).isPositive();
        }
        for (AutoCloseable each : opened) {
            each.close();
        }
    }
}

package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.MixedDevices;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.vulkan.VulkanDrivers;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Pipelines over a CPU, CUDA, HIP, and Vulkan where present, in memory visible to all, submitted at once behind a gate.
 */
@Tag("long")
@Timeout(300)
class MixedGpuTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int ELEMENTS = 64;
    private static final int BUFFERS = 6;
    private static final int STAGES = 80;
    private static final BufferParams PARAMS = new BufferParams(
            MemoryType.DEVICE_VISIBLE | MemoryType.HOST_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);

    /** The order of submitting stages. */
    enum Order {
        /** Each after the stages waited for. */
        OF_DEPENDENCE,
        /** Each before the stages waited for. */
        REVERSE,
        RANDOM
    }

    private record Stage(int device, int queue, int in, int out, int factor, boolean copies, List<Integer> after) {}

    @TempDir
    private Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final List<Device> devices = new ArrayList<>();
    private final List<GpuDrivers> fakes = new ArrayList<>();

    private <T extends AutoCloseable> T closed(T resource) {
        opened.add(resource);
        return resource;
    }

    @BeforeEach
    void open() {
        devices.add(closed(MixedDevices.cpu(DeviceOptions.builder().queueCount(2))));
        for (GpuKind kind : GpuKind.values()) {
            fakes.add(GpuDrivers.fake(directory, kind, "", kind == GpuKind.CUDA ? GpuLane.WINDOW : 4));
            devices.add(closed(fakes.getLast().open(DeviceOptions.builder().queueCount(3))));
        }
        if (VulkanDrivers.isAvailable()) {
            devices.add(closed(VulkanDrivers.open(DeviceOptions.builder().queueCount(2))));
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        for (Device each : devices) {
            assertThat(each.allocator().statistics().bytesLive()).isZero();
            if (each instanceof StreamDevice stream && !each.info().driver().equals("vulkan")) {
                GpuDrivers.assertNothingLeft(stream);
            }
        }
        fakes.forEach(GpuDrivers::assertNothingToComplainOf);
    }

    @ParameterizedTest
    @EnumSource(Order.class)
    void stagesOnAllDevicesGiveTheSequentialResults(Order order) {
        List<Executable> kernels =
                devices.stream().map(each -> closed(MixedDevices.kernels(each))).toList();
        List<Buffer> buffers = new ArrayList<>();
        for (int i = 0; i < BUFFERS; i++) { // small blocks, sharing pages
            buffers.add(closed(devices.getFirst().allocator().allocate(PARAMS, 4L * ELEMENTS)));
        }
        long first = Effort.seed(getClass(), Effort.rounds(400, 4000) + " pipelines, " + order, 20261122);
        for (long seed = first; seed < first + Effort.rounds(400, 4000); seed++) {
            run(new Random(seed), seed, order, kernels, buffers);
        }
    }

    private void run(Random random, long seed, Order order, List<Executable> kernels, List<Buffer> buffers) {
        for (Buffer each : buffers) {
            each.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).fill((byte) 0);
        }
        List<Stage> stages = stages(random);
        List<Integer> turns = new ArrayList<>();
        for (int i = 0; i < STAGES; i++) {
            turns.add(order == Order.REVERSE ? STAGES - 1 - i : i);
        }
        if (order == Order.RANDOM) {
            Collections.shuffle(turns, random);
        }
        List<TimelineSemaphore> done = new ArrayList<>();
        for (int i = 0; i < STAGES; i++) {
            done.add(TimelineSemaphore.create(0));
        }
        try (TimelineSemaphore gate = TimelineSemaphore.create(0)) {
            for (int turn : turns) {
                Stage stage = stages.get(turn);
                List<Fence.Entry> waits = new ArrayList<>(List.of(new Fence.Entry(gate, 1)));
                stage.after.forEach(each -> waits.add(new Fence.Entry(done.get(each), 1)));
                try (Fence wait = Fence.of(waits);
                        Fence signal = Fence.at(done.get(turn), 1)) {
                    submit(stage, turn, wait, signal, kernels, buffers);
                }
            }
            gate.signal(1);
            done.forEach(each -> each.await(1, Duration.ofSeconds(60)));
        }
        done.forEach(TimelineSemaphore::close);
        int[] expected = new int[BUFFERS];
        for (int i = 0; i < STAGES; i++) {
            Stage stage = stages.get(i);
            expected[stage.out] = stage.copies ? expected[stage.in] : expected[stage.in] * stage.factor + i;
        }
        for (int i = 0; i < BUFFERS; i++) {
            assertThat(buffers.get(i).map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(INT))
                    .as("seed %d, buffer %d", seed, i)
                    .containsOnly(expected[i]);
        }
    }

    private List<Stage> stages(Random random) {
        List<Stage> stages = new ArrayList<>();
        for (int i = 0; i < STAGES; i++) {
            int in = random.nextInt(BUFFERS);
            int out = (in + 1 + random.nextInt(BUFFERS - 1)) % BUFFERS;
            List<Integer> after = new ArrayList<>();
            for (int j = 0; j < i; j++) {
                Stage earlier = stages.get(j);
                if (earlier.out == in || earlier.out == out || earlier.in == out) {
                    after.add(j);
                }
            }
            int device = random.nextInt(devices.size());
            int queue = random.nextInt(devices.get(device).queueCount());
            stages.add(new Stage(device, queue, in, out, 1 + random.nextInt(3), random.nextInt(4) == 0, after));
        }
        return stages;
    }

    private void submit(
            Stage stage, int index, Fence wait, Fence signal, List<Executable> kernels, List<Buffer> buffers) {
        Buffer in = buffers.get(stage.in);
        Buffer out = buffers.get(stage.out);
        if (stage.copies) {
            devices.get(stage.device).queue(stage.queue).copy(wait, signal, in, 0, out, 0, Buffer.WHOLE, 0);
        } else {
            devices.get(stage.device)
                    .queue(stage.queue)
                    .dispatch(
                            wait,
                            signal,
                            kernels.get(stage.device),
                            JavaKernels.SCALE,
                            DispatchConfig.of(ELEMENTS, 1, 1),
                            new int[] {stage.factor, index},
                            BindingTable.of(in, out),
                            0);
        }
    }
}

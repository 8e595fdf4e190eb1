package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The calls of the driver, against the least number proved by {@code QueueCostContract}. */
@Timeout(300)
class GpuCostTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int QUEUES = 4;
    private static final BufferParams OF_DEVICE =
            new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT | BufferUsage.DISPATCH_INDIRECT_PARAMETERS);

    @TempDir
    private Path directory;

    private static long waits(StreamDevice device) {
        long sum = 0;
        for (int i = 0; i < device.queueCount(); i++) {
            sum += device.queue(i).streamCounters().waits();
        }
        return sum;
    }

    /** A call for each wait in the counters, and an event for each operation, and no other. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void randomGraphsTakeAWaitForEachRemainingEdgeAndAnEventForEachOperation(GpuKind kind) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
        FakeGpu library = Objects.requireNonNull(fake.library());
        long seed = Effort.seed(GpuCostTest.class, "graphs", 20261122);
        for (int round = 0; round < Effort.rounds(400); round++) {
            Random random = new Random(seed + round);
            try (StreamDevice device = fake.open(DeviceOptions.builder().queueCount(QUEUES));
                    TimelineSemaphore gate = TimelineSemaphore.create(0);
                    Fence open = Fence.at(gate, 1);
                    Buffer target = device.allocator().allocate(OF_DEVICE, 4096)) {
                List<Fence> done = new ArrayList<>();
                for (int i = 0; i < 10 + random.nextInt(40); i++) {
                    Set<Integer> after = new HashSet<>();
                    for (int edges = i == 0 ? 0 : random.nextInt(5); edges > 0; edges--) {
                        after.add(random.nextInt(i));
                    }
                    List<Fence> waits = new ArrayList<>(List.of(open));
                    after.forEach(each -> waits.add(done.get(each)));
                    done.add(Fence.adopt(TimelineSemaphore.create(0), 1));
                    try (Fence all = Objects.requireNonNull(Fence.joinNullable(waits))) {
                        device.queue(random.nextInt(QUEUES)).fill(all, done.get(i), target, 4L * i, 4, 1, 4, 0);
                    }
                }
                long before = waits(device);
                library.forget();
                fake.hang();
                gate.signal(1);
                // Everything, while nothing runs; another thread may be at work.
                while (library.calls("event_record") < done.size()) {
                    Thread.onSpinWait();
                }
                fake.goOn();
                done.forEach(each -> each.await(LONG));
                assertThat(library.calls("stream_wait_event"))
                        .as("seed %d: waits", seed + round)
                        .isEqualTo(waits(device) - before);
                assertThat(library.calls("event_record"))
                        .as("seed %d: events", seed + round)
                        .isEqualTo(done.size());
                assertThat(library.calls("fill_32")).isEqualTo(done.size());
                done.forEach(Fence::close);
            }
            fake.assertNothingToComplainOf();
        }
    }

    /** The same pattern again and again: commands, with counts from the host and from a buffer, transfers, memory in queue order. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void steadyWorkMakesNothingInTheDriver(GpuKind kind) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
        FakeGpu library = Objects.requireNonNull(fake.library());
        try (StreamDevice device = fake.open(DeviceOptions.builder().queueCount(QUEUES));
                Executable kernels = GpuKernels.load(device);
                Buffer counts = device.allocator().allocate(OF_DEVICE, 12);
                Buffer one = device.allocator().allocate(OF_DEVICE, 4096);
                Buffer two = device.allocator().allocate(OF_DEVICE, 4096);
                CommandBuffer reused = device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0)) {
            record(reused, kernels, counts, one, two);
            for (int i = 0; i < 10; i++) { // more at once than later, however threads meet
                pattern(3, device, fake, kernels, reused, counts, one, two);
            }
            library.forget();
            for (int i = 0; i < 100; i++) {
                pattern(1, device, fake, kernels, reused, counts, one, two);
            }
            for (String call : List.of(
                    "event_create",
                    "event_destroy",
                    "stream_create",
                    "memory_allocate",
                    "memory_free",
                    "pool_allocate",
                    "pool_free",
                    "stream_synchronize",
                    "host_allocate",
                    "host_free",
                    "host_register",
                    "module_load")) {
                assertThat(library.calls(call)).as(call).isZero();
            }
        }
        fake.assertNothingToComplainOf();
    }

    private static void record(CommandBuffer commands, Executable kernels, Buffer counts, Buffer in, Buffer out) {
        List<BufferRef> bindings = List.of(BufferRef.of(in, 0, Buffer.WHOLE), BufferRef.of(out, 0, Buffer.WHOLE));
        int[] constants = {1, 1};
        commands.dispatch(kernels, JavaKernels.SCALE, DispatchConfig.of(4, 1, 1), constants, bindings, 0);
        commands.dispatchIndirect(kernels, JavaKernels.SCALE, BufferRef.of(counts, 0, 12), constants, bindings, 0);
        commands.finish();
    }

    private static void pattern(
            int times,
            StreamDevice device,
            GpuDrivers fake,
            Executable kernels,
            CommandBuffer reused,
            Buffer counts,
            Buffer one,
            Buffer two) {
        List<Fence> all = new ArrayList<>();
        List<Buffer> buffers = new ArrayList<>();
        fake.hang(); // for the same content each time
        for (int i = 0; i < times; i++) {
            all.addAll(submit(device, kernels, reused, counts, one, two, buffers));
        }
        fake.goOn();
        all.forEach(each -> each.await(LONG));
        all.forEach(Fence::close);
        buffers.forEach(Buffer::close);
    }

    private static List<Fence> submit(
            StreamDevice device,
            Executable kernels,
            CommandBuffer reused,
            Buffer counts,
            Buffer one,
            Buffer two,
            List<Buffer> buffers) {
        List<Fence> done = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            done.add(Fence.adopt(TimelineSemaphore.create(0), 1));
        }
        device.queue(0).fill(null, done.get(0), counts, 0, 12, 1, 4, 0);
        device.queue(1).fill(null, done.get(1), one, 0, 4096, 1, 4, 0);
        for (int i = 2; i < 10; i++) {
            device.queue(i % QUEUES).copy(done.get(i - 2), done.get(i), one, 0, two, 0, 4096, 0);
        }
        device.queue(2)
                .dispatch(
                        done.get(9),
                        done.get(10),
                        kernels,
                        JavaKernels.SCALE,
                        DispatchConfig.of(4, 1, 1),
                        new int[] {1, 1},
                        BindingTable.of(one, two),
                        0);
        device.queue(3).execute(done.get(10), done.get(11), reused, null, 0);
        try (CommandBuffer once = device.createCommandBuffer(CommandBuffer.ONE_SHOT, CommandBuffer.DISPATCH, -1, 0)) {
            record(once, kernels, counts, one, two);
            device.queue(0).execute(done.get(11), done.get(12), once, null, 0);
        }
        Buffer transientBuffer = device.queue(1).alloca(done.get(0), done.get(13), OF_DEVICE, 1024, 0);
        device.queue(2).fill(done.get(13), done.get(14), transientBuffer, 0, 1024, 1, 4, 0);
        device.queue(1).dealloca(done.get(14), done.get(15), transientBuffer, 0);
        for (int i = 16; i < 20; i++) {
            device.queue(i % QUEUES).barrier(done.get(i - 4), done.get(i), 0);
        }
        buffers.add(transientBuffer);
        return done;
    }
}

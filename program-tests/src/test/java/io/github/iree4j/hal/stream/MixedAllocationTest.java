package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.gpu.GpuDrivers;
import io.github.iree4j.hal.pool.PoolStatistics;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.NothingWrong;
import io.github.iree4j.hal.vulkan.VulkanDrivers;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The random allocations of {@code RandomAllocationTest} on a CPU and another device, where the driver or the limits
 * leave too little memory for all: allocating, writing, checking and freeing invocations, on queues of both devices in
 * turn, ordered or unordered. Each writes a mark and checks for any other. Memory reused too early shows.
 */
@Tag("long")
@Timeout(300)
@ExtendWith(NothingWrong.class)
class MixedAllocationTest {
    private static final int PROGRAMS = Effort.rounds(12, 300);
    private static final int INVOCATIONS = 60;
    private static final int LIMIT = 8 << 20;

    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final BufferParams OF_HOST = new BufferParams(
            MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);

    private long withoutWait;
    private long waited;

    @TempDir
    private Path directory;

    /** The limit in MiB is the limit of the device, or of its driver. */
    @ParameterizedTest
    @CsvSource({"VULKAN, '', 8", "CUDA, '', 8", "HIP, '', 8", "CUDA, heap_mib=10, 0", "HIP, heap_mib=10, 0"})
    void noByteOfAnOwnerIsSeenOrOverwrittenByAnother(String library, String settings, int limit) throws Exception {
        if (library.equals("VULKAN")) {
            runAll(VulkanDrivers::open, VulkanDrivers::assertNothingLeft, limit); // faults are reported after the class
        } else {
            GpuDrivers fake = GpuDrivers.fake(directory, GpuKind.valueOf(library), settings);
            runAll(fake::open, GpuDrivers::assertNothingLeft, limit);
            fake.assertNothingToComplainOf();
        }
    }

    private void runAll(
            Function<DeviceOptions.Builder, StreamDevice> opener, Consumer<StreamDevice> assertNothingLeft, int limit)
            throws Exception {
        long first = Effort.seed(MixedAllocationTest.class, PROGRAMS + " programs", 20261122);
        for (long seed = first; seed < first + PROGRAMS; seed++) {
            StreamDevice gpu =
                    opener.apply(DeviceOptions.builder().queueCount(3).memoryLimit((long) limit << 20));
            try (gpu;
                    Device cpu = MixedDevices.cpu(
                            DeviceOptions.builder().queueCount(2).memoryLimit(LIMIT))) {
                new Program(seed, List.of(gpu, cpu), limit == 0).run();
            }
            assertNothingLeft.accept(gpu);
        }
        assertThat(List.of(withoutWait, waited)).as("number of allocations").allMatch(n -> n > PROGRAMS);
    }

    private final class Program {
        private final long seed;
        private final Random random;
        private final List<Device> devices;
        private final List<AutoCloseable> toClose = new ArrayList<>();
        private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
        private final List<Fence> ends = new ArrayList<>();
        private final Map<Buffer, Byte> seen = new LinkedHashMap<>(); // the content of hidden memory
        private final boolean hidden; // from the host
        private final boolean failures;

        Program(long seed, List<Device> devices, boolean hidden) {
            this.seed = seed;
            this.random = new Random(seed);
            this.devices = devices;
            this.hidden = hidden;
            this.failures = !hidden && random.nextInt(4) == 0;
        }

        private <T extends AutoCloseable> T closed(T resource) {
            toClose.add(resource);
            return resource;
        }

        private DeviceQueue queue(Device device) {
            return device.queue(random.nextInt(device.queueCount()));
        }

        private Device device() {
            return devices.get(random.nextInt(devices.size()));
        }

        void run() throws Exception {
            for (int i = 0; i < INVOCATIONS; i++) {
                submit((byte) (i + 1));
            }
            for (Fence end : ends) {
                settle(end);
            }
            seen.forEach((buffer, mark) -> look(buffer, mark, false));
            assertThat(wrong).as("seed %d", seed).isEmpty();
            for (AutoCloseable each : toClose.reversed()) {
                each.close();
            }
            for (Device device : devices) {
                // The buffers of a failed invocation are freed after the hardware's last use, not awaited by the fence.
                long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
                while (device.allocator().poolStatistics().bytesLive() != 0 && System.nanoTime() - limit < 0) {
                    Thread.onSpinWait();
                }
                assertThat(device.allocator().poolStatistics().bytesLive())
                        .as("seed %d, %s", seed, device.id())
                        .isZero();
                for (PoolStatistics pool : device.allocator().poolStatistics().pools()) {
                    withoutWait += pool.reusedWithoutWait();
                    waited += pool.waits();
                }
            }
        }

        private BufferParams params(Device home) {
            return hidden && home.equals(devices.getFirst()) ? OF_DEVICE : OF_HOST;
        }

        private void settle(Fence end) {
            try {
                end.await(Duration.ofSeconds(60));
            } catch (IreeException e) {
                assertThat(e.code()).as("seed %d: %s", seed, e).isEqualTo(StatusCode.DATA_LOSS);
                assertThat(failures).isTrue();
            }
        }

        private void submit(byte mark) {
            Device home = device();
            DeviceQueue first = queue(home);
            DeviceQueue second = random.nextInt(3) == 0 ? queue(home) : first;
            long size = 64L * (1 + random.nextInt(random.nextInt(3) == 0 ? LIMIT / 64 : LIMIT / 512));
            TimelineSemaphore own = closed(home.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
            Fence behind = ends.isEmpty() || random.nextInt(3) > 0 ? null : ends.get(random.nextInt(ends.size()));
            Buffer buffer = closed(first.alloca(behind, at(own, 1), params(home).withConsumer("i" + mark), size, 0));
            second.fill(at(own, 1), at(own, 2), buffer, 0, Buffer.WHOLE, mark, 1, 0);
            boolean fails = failures && random.nextInt(12) == 0;
            if (hidden && home.equals(devices.getFirst())) {
                Buffer copied = closed(home.allocator().allocate(OF_HOST, size));
                seen.put(copied, mark);
                queue(home).copy(at(own, 2), at(own, 3), buffer, 0, copied, 0, Buffer.WHOLE, 0);
            } else {
                // The host may check in the turn of the other device.
                queue(device()).hostCall(at(own, 2), at(own, 3), () -> look(buffer, mark, fails), 0);
            }
            Fence end = at(own, 4);
            ends.add(end);
            second.dealloca(at(own, 3), end, buffer, random.nextBoolean() ? DeviceQueue.DEALLOCA_PREFER_ORIGIN : 0);
            if (failures) {
                buffer.close(); // a failed invocation frees nothing in queue order
            }
        }

        private void look(Buffer buffer, byte mark, boolean fails) {
            MemorySegment bytes = buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE);
            for (long i = 0; i < bytes.byteSize(); i += 64) {
                byte found = bytes.get(ValueLayout.JAVA_BYTE, i);
                if (found != mark) {
                    wrong.add("byte %d of invocation %d is of %d".formatted(i, mark, found));
                    return;
                }
            }
            if (fails) {
                throw IreeException.of(StatusCode.DATA_LOSS, "on purpose");
            }
        }

        private Fence at(TimelineSemaphore timeline, long value) {
            return closed(Fence.at(timeline, value));
        }
    }
}

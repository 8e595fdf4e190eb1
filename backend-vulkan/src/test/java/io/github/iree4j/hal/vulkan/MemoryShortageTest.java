package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A driver short of memory. */
class MemoryShortageTest {
    private static final BufferParams HIDDEN = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final int MIB = 1 << 20;

    @TempDir
    Path directory;

    private FakeDriver fake;
    private StreamDevice device;

    private void open(String settings) {
        fake = FakeDriver.in(directory, settings);
        device = fake.open(DeviceOptions.builder());
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
            assertThat(device.allocator().statistics().bytesLive()).isZero();
            VulkanDrivers.assertNothingLeft(device);
            fake.assertNothingToComplainOf();
        }
    }

    private static void assertExhausted(Throwable thrown, String... says) {
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED))
                .hasMessageContainingAll(says);
    }

    @Test
    void driverWithoutMemoryFailsTheAllocationWithNumbersAndRemedy() {
        open("oom_allocation=1");
        assertThatThrownBy(() -> device.allocator().allocate(HIDDEN, 20 * MIB))
                .satisfies(e -> assertExhausted(e, "20971520 bytes", "close buffers"));
        device.allocator().allocate(HIDDEN, 20 * MIB).close(); // reused by the next
    }

    @Test
    void driverWithoutMemoryFailsTheAllocaInItsFence() {
        open("oom_allocation=1");
        try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1);
                Buffer buffer = device.queue(0).alloca(null, done, HIDDEN, 20 * MIB, 0)) {
            assertThatThrownBy(done::await).satisfies(e -> assertExhausted(e, "20971520 bytes"));
            byte[] bytes = new byte[1];
            assertThatThrownBy(() -> buffer.read(0, MemorySegment.ofArray(bytes)))
                    .satisfies(e -> assertExhausted(e, "whose allocation failed"));
        }
    }

    @Test
    void keptMemoryIsGivenBackBeforeAnAllocationFails() {
        open("heap_mib=100");
        Buffer first = device.allocator().allocate(HIDDEN, 60 * MIB);
        first.close(); // kept for later
        assertThat(device.allocator().statistics().bytesReserved()).isGreaterThanOrEqualTo(60 * MIB);
        device.allocator().allocate(HIDDEN, 61 * MIB).close();
    }

    @Test
    void refusingDriverIsAskedAgainOnceKeptMemoryIsBack() {
        open("oom_allocation=2");
        device.allocator().allocate(HIDDEN, 20 * MIB).close(); // kept for later
        device.allocator().allocate(HIDDEN, 30 * MIB).close();
        assertThat(device.allocator().statistics().bytesReserved()).isLessThan(50 * MIB);
    }

    @Test
    void memoryOutsideOfPoolsIsTreatedAlike() {
        open("oom_allocation=2");
        device.allocator().allocate(HIDDEN, 20 * MIB).close(); // kept for later
        device.allocator().allocateExportable(HIDDEN, 30 * MIB).close();
        assertThat(device.allocator().statistics().bytesReserved()).isZero();
    }

    @Test
    void moreThanTheHeapIsNeverThere() {
        open("heap_mib=64");
        assertThatThrownBy(() -> device.allocator().allocate(HIDDEN, 65 * MIB))
                .satisfies(e -> assertExhausted(e, Integer.toString(65 * MIB)));
    }

    @Test
    void transfersMakeDoWithASingleSlotWhenTheHostIsShort() {
        open("heap_mib=10"); // less than the ring
        byte[] contents = new byte[5 * MIB];
        Arrays.fill(contents, (byte) 3);
        try (Buffer buffer = device.allocator().allocate(HIDDEN, MemorySegment.ofArray(contents))) {
            byte[] read = new byte[MIB];
            buffer.read(MIB, MemorySegment.ofArray(read));
            assertThat(read).containsOnly(3);
        }
    }
}

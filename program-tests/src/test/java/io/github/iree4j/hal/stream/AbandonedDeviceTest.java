package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.gpu.GpuDrivers;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.VulkanOptions;
import io.github.iree4j.hal.vulkan.FakeDriver;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * STREAM-6: closing a device with hanging hardware releases all waiters, and frees nothing in reach of the hardware.
 */
@Timeout(300)
@ParameterizedClass
@EnumSource(AbandonedDeviceTest.Library.class)
class AbandonedDeviceTest {
    /** Without hardware. */
    enum Library {
        VULKAN_WITH_HIDDEN_MEMORY,
        VULKAN_WITH_ONE_MEMORY,
        VULKAN_WITH_ONE_QUEUE,
        CUDA,
        HIP;

        TestDriver in(Path directory, Duration closeLimit) {
            return switch (this) {
                case VULKAN_WITH_HIDDEN_MEMORY -> FakeDriver.in(directory, "", closeLimit);
                case VULKAN_WITH_ONE_MEMORY -> FakeDriver.in(directory, "unified", closeLimit);
                case VULKAN_WITH_ONE_QUEUE -> FakeDriver.in(directory, "unified one_queue", closeLimit);
                case CUDA -> GpuDrivers.fake(directory, GpuKind.CUDA, "", closeLimit);
                case HIP -> GpuDrivers.fake(directory, GpuKind.HIP, "", closeLimit);
            };
        }
    }

    private static final Duration SOON = Duration.ofMillis(20);
    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    private Path directory;

    @Parameter
    private Library library;

    private TestDriver fake;

    @BeforeEach
    void load() {
        fake = library.in(directory, SOON);
    }

    private StreamDevice open(DeviceOptions.Builder options) {
        return fake.open(options.with(VulkanOptions.DEFAULTS.compiledCode("off")));
    }

    @AfterEach
    void goOn() {
        fake.goOn();
    }

    private static IreeException closeThatThrows(Device device) {
        return catchThrowableOfType(IreeException.class, device::close);
    }

    private static void assertFails(Fence fence) {
        IreeException failure = catchThrowableOfType(IreeException.class, () -> fence.await(LONG));
        assertThat(failure.code()).isEqualTo(StatusCode.ABORTED);
        assertThat(failure).hasMessageContaining("is abandoned");
    }

    private void assertEndsWithoutTrace(StreamDevice device) {
        fake.goOn();
        assertThat(StreamDevices.awaitFreed(device, LONG))
                .as("freed once the hardware has ended")
                .isTrue();
        assertThat(fake.liveObjects(device).values()).as("objects left").containsOnly(0L);
        fake.assertNothingToComplainOf();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void workInFlightFailsAndItsMemoryStays(int queues) {
        StreamDevice device = open(DeviceOptions.builder().queueCount(queues));
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence filled = Fence.at(timeline, 1);
                Fence copied = Fence.at(timeline, 2)) {
            Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 1024);
            Buffer target = device.allocator().allocate(BufferParams.DEFAULT, 1024);
            fake.hang();
            device.queue(0).fill(null, filled, buffer, 0, Buffer.WHOLE, 7, 1, 0);
            device.queue(queues - 1).copy(filled, copied, buffer, 0, target, 0, Buffer.WHOLE, 0);
            buffer.close();
            target.close();
            IreeException thrown = closeThatThrows(device);
            assertThat(thrown.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            assertThat(thrown).hasMessageContaining("its hardware has not completed its work");
            assertThat(device.failure()).containsSame(timeline.failure());
            assertThat(device.failure().orElseThrow()).hasMessageContaining("is abandoned");
            assertThat(device.failure().map(IreeException::code)).contains(StatusCode.ABORTED);
            device.close(); // repeated: no exception
            assertThat(fake.liveObjects(device).get("MEMORY"))
                    .as("memory in reach of the hardware")
                    .isPositive();
            assertEndsWithoutTrace(device);
        }
    }

    /** Dependent work of other devices does not hang: of the CPU, started by the host, and of another device of the same kind. */
    @Test
    void dependentsOnOtherDevicesDoNotWait() {
        StreamDevice device = open(DeviceOptions.builder());
        TestDriver second = library.in(directory, LONG);
        try (Device cpu = new LocalDriverProvider().open("local", DeviceOptions.DEFAULTS);
                StreamDevice other = second.open(DeviceOptions.builder());
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence filled = Fence.at(timeline, 1);
                TimelineSemaphore theirs = TimelineSemaphore.create(0);
                Fence onCpu = Fence.at(theirs, 1);
                TimelineSemaphore others = TimelineSemaphore.create(0);
                Fence onOther = Fence.at(others, 1);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 1024)) {
            fake.hang();
            device.queue(0).fill(null, filled, buffer, 0, Buffer.WHOLE, 7, 1, 0);
            cpu.queue(0).barrier(filled, onCpu, 0);
            other.queue(0).barrier(filled, onOther, 0);
            assertThat(closeThatThrows(device)).isNotNull();
            assertFails(onCpu);
            assertFails(onOther);
        }
        assertEndsWithoutTrace(device);
    }

    /** The targets may still be written until the hardware has ended: failed, but not complete. */
    @Test
    void workOnAnAbandonedAxisHasFailedAndIsNotOver() {
        StreamDevice device = open(DeviceOptions.builder());
        FrontierTracker tracker = device.schedulingDomain().tracker();
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence filled = Fence.at(timeline, 1)) {
            Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 1024);
            fake.hang();
            device.queue(0).fill(null, filled, buffer, 0, Buffer.WHOLE, 7, 1, 0);
            Frontier own = device.queue(0).frontier();
            long axis = device.queue(0).axis();
            assertThat(own.size()).isOne();
            assertThat(closeThatThrows(device)).isNotNull();
            assertThat(device.failure()).containsSame(tracker.failure(axis));
            assertThat(tracker.isComplete(own))
                    .as("complete in the hardware's hands")
                    .isFalse();
            CountDownLatch over = new CountDownLatch(1);
            tracker.whenOver(own, _ -> over.countDown());
            assertThat(over.getCount()).isOne();
            buffer.close();
            assertEndsWithoutTrace(device);
            assertThat(over.getCount()).isZero();
            assertThat(tracker.isComplete(own))
                    .as("complete once the hardware has ended")
                    .isTrue();
            assertThat(tracker.completed(axis)).as("what has completed").isZero();
        }
    }

    @Test
    void nothingIsGivenToAnAbandonedDevice() {
        StreamDevice device = open(DeviceOptions.builder());
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence filled = Fence.at(timeline, 1);
                TimelineSemaphore late = TimelineSemaphore.create(0);
                Fence refused = Fence.at(late, 1);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 1024)) {
            fake.hang();
            device.queue(0).fill(null, filled, buffer, 0, Buffer.WHOLE, 7, 1, 0);
            assertThat(closeThatThrows(device)).isNotNull();
            device.queue(0).barrier(null, refused, 0);
            assertThat(late.failure()).isNotNull();
            assertThat(device.failure())
                    .containsSame(catchThrowableOfType(
                            IreeException.class, () -> device.allocator().allocate(BufferParams.DEFAULT, 64)))
                    .containsSame(catchThrowableOfType(IreeException.class, () -> device.createSemaphore(0, 0)));
        }
        assertEndsWithoutTrace(device);
    }

    /** A point due from another process: no longer polled. */
    @Test
    void importedPointsFail() {
        assumeFalse(library == Library.CUDA || library == Library.HIP, "devices of CUDA and HIP share no semaphores");
        StreamDevice device = open(DeviceOptions.builder());
        try (TimelineSemaphore source =
                        TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.SYSTEM_WIDE));
                TimelineSemaphore imported = TimelineSemaphore.create(0);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence filled = Fence.at(timeline, 1);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 1024)) {
            device.importSemaphore(device.exportSemaphore(source), imported, 1);
            fake.hang();
            device.queue(0).fill(null, filled, buffer, 0, Buffer.WHOLE, 7, 1, 0);
            assertThat(closeThatThrows(device)).isNotNull();
            assertThat(device.failure()).containsSame(imported.failure());
        }
        assertEndsWithoutTrace(device);
    }

    /** A host call waits for another device, which waits for a value forwarded by this device. */
    @Test
    void exportedPointsFail() {
        assumeFalse(library == Library.CUDA || library == Library.HIP, "devices of CUDA and HIP share no semaphores");
        StreamDevice device = open(DeviceOptions.builder());
        CountDownLatch begun = new CountDownLatch(1);
        try (StreamDevice other = open(DeviceOptions.builder());
                TimelineSemaphore source =
                        TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.SYSTEM_WIDE));
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                TimelineSemaphore imported = TimelineSemaphore.create(0);
                Fence reached = Fence.at(imported, 1);
                Fence called = Fence.at(timeline, 1)) {
            other.importSemaphore(device.exportSemaphore(source), imported, 1);
            device.queue(0)
                    .hostCall(
                            null,
                            called,
                            () -> {
                                begun.countDown();
                                reached.await();
                            },
                            0);
            await(begun);
            device.close();
            assertThat(catchThrowableOfType(IreeException.class, () -> reached.await(LONG)))
                    .hasMessageContaining("is not known to be reached");
        }
        assertEndsWithoutTrace(device);
    }

    /** The driver finally reports the device lost, as drivers do. */
    @Test
    void anAbandonedLostDeviceIsFreed() {
        StreamDevice device = open(DeviceOptions.builder());
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence filled = Fence.at(timeline, 1)) {
            Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 1024);
            fake.hang();
            device.queue(0).fill(null, filled, buffer, 0, Buffer.WHOLE, 7, 1, 0);
            assertThat(closeThatThrows(device)).isNotNull();
            fake.lose();
            buffer.close();
            assertThat(StreamDevices.awaitFreed(device, LONG)).isTrue();
            assertThat(fake.liveObjects(device).values()).as("objects left").containsOnly(0L);
            assertThat(device.failure().orElseThrow()).hasMessageContaining("is abandoned");
        }
    }

    /** A hanging host step is not a fault of the hardware: close() does not throw, and dependents do not hang. */
    @Test
    void anEndlessStepOfTheHostFailsToo() {
        StreamDevice device = open(DeviceOptions.builder());
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence called = Fence.at(timeline, 1)) {
            device.queue(0)
                    .hostCall(
                            null,
                            called,
                            () -> {
                                begun.countDown();
                                await(end);
                            },
                            0);
            await(begun);
            device.close();
            assertThat(device.failure()).containsSame(timeline.failure());
            assertThat(device.failure().orElseThrow()).hasMessageContaining("a host step is not complete");
        } finally {
            end.countDown();
        }
        assertEndsWithoutTrace(device);
    }

    /** Closing the device on one of its own threads does not block; the device is abandoned all the same. */
    @Test
    void aDeviceClosedByItsOwnThreadIsAbandonedToo() {
        StreamDevice device = open(DeviceOptions.builder().queueCount(2));
        CountDownLatch closed = new CountDownLatch(1);
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence filled = Fence.at(timeline, 1);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 1024)) {
            fake.hang();
            device.queue(0).fill(null, filled, buffer, 0, Buffer.WHOLE, 7, 1, 0);
            device.queue(1)
                    .hostCall(
                            null,
                            null,
                            () -> {
                                device.close();
                                closed.countDown();
                            },
                            0);
            await(closed);
            assertFails(filled);
        }
        assertEndsWithoutTrace(device);
    }

    /**
     * Commands held back, for want of room or of an event, are given once the hardware goes on, and freed afterwards.
     */
    @Test
    void commandsHeldBackAreFreedToo() {
        StreamDevice device = open(DeviceOptions.builder().queueCount(3));
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                TimelineSemaphore other = TimelineSemaphore.create(0);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 1024)) {
            fake.hang();
            for (int i = 1; i <= 3000; i++) {
                try (Fence done = Fence.at(timeline, i)) {
                    device.queue(0).fill(null, done, buffer, 0, Buffer.WHOLE, i, 1, 0);
                }
            }
            try (Fence late = Fence.at(timeline, 2999);
                    Fence done = Fence.at(other, 1)) {
                device.queue(1).fill(late, done, buffer, 0, Buffer.WHOLE, 7, 1, 0);
                assertThat(closeThatThrows(device).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
                assertFails(done);
            }
        }
        assertEndsWithoutTrace(device);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

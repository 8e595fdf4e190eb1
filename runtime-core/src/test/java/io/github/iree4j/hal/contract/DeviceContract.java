package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

/** The common part of the suites: a device, kernels, short ways to make buffers, fences and assertions. */
public abstract class DeviceContract extends Suite {
    /** For events due by themselves, unless something is wrong. */
    static final Duration LONG = Duration.ofSeconds(60);

    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    static final BufferParams PARAMS = new BufferParams(
            MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE,
            BufferUsage.DEFAULT | BufferUsage.MAPPING | BufferUsage.DISPATCH_INDIRECT_PARAMETERS);

    /** For imported memory of the host, which is not the device's own where the device has some. */
    static final BufferParams IMPORTED =
            new BufferParams(MemoryType.DEVICE_VISIBLE | MemoryType.HOST_VISIBLE, PARAMS.usage());

    Device device;
    DeviceQueue queue;
    private boolean opened;

    /** On a backend, closed after each test. */
    protected DeviceContract(Backend backend) {
        super(backend);
    }

    @BeforeEach
    void openDevice() {
        device = closed(open(DeviceOptions.builder()));
        opened = true;
        queue = device.queue(0);
    }

    @Override
    void checkClosed() {
        if (opened) { // else the test was skipped, since there is no such device here
            assertThat(device.allocator().statistics().bytesLive())
                    .as("bytes still in use")
                    .isZero();
        }
    }

    /** Opens another device. */
    Device open(DeviceOptions.Builder options) {
        return backend.open(options);
    }

    Executable kernels(Device device, int... constants) {
        return backend.kernels(device, constants);
    }

    TimelineSemaphore semaphore() {
        return closed(device.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
    }

    /** A new timeline's first point. */
    Fence fence() {
        return at(semaphore(), 1);
    }

    Fence at(TimelineSemaphore semaphore, long value) {
        return closed(Fence.at(semaphore, value));
    }

    Buffer ints(int... values) {
        Buffer buffer = closed(device.allocator().allocate(PARAMS, values.length * 4L));
        MemorySegment.copy(values, 0, buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE), INT, 0, values.length);
        return buffer;
    }

    static int[] read(Buffer buffer) {
        return buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(INT);
    }

    static void assertFails(StatusCode code, String message, ThrowingCallable call) {
        IreeException failure = catchThrowableOfType(IreeException.class, call);
        assertFailure(failure, code, message);
    }

    /** Waits for work perhaps executed by another thread. */
    static void assertFails(Fence fence, StatusCode code, String message) {
        assertFailure(
                catchThrowableOfType(IreeException.class, () -> fence.await(Duration.ofSeconds(60))), code, message);
    }

    private static void assertFailure(@Nullable IreeException failure, StatusCode code, String message) {
        assertThat(failure).as("failure").isNotNull();
        assertThat(failure.getMessage()).contains(message);
        assertThat(failure.code()).as(failure.getMessage()).isEqualTo(code);
    }
}

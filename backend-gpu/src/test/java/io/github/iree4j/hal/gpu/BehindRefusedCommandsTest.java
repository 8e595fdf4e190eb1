package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * SCHED-8: commands relying on commands refused by the driver are not given to the driver. With a full stream the
 * commands are refused after the later operations were issued; with room, before.
 */
@Timeout(120)
class BehindRefusedCommandsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final int BYTES = 64;
    private static final int FULL = 2; // commands, as many as the first operation has

    @TempDir
    private Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final TimelineSemaphore timeline = semaphore();
    private @Nullable GpuDrivers drivers;
    private @Nullable StreamDevice device;

    /** An operation without commands, between the refused commands and the commands behind. */
    private enum Middle implements BiConsumer<Fence, Fence> {
        NOTHING,
        BARRIER,
        ALLOCA,
        DEALLOCA;

        @Nullable
        DeviceQueue queue;

        @Nullable
        Buffer buffer;

        @Override
        public void accept(Fence wait, Fence signal) {
            DeviceQueue on = Objects.requireNonNull(queue);
            switch (this) {
                case NOTHING -> {}
                case BARRIER -> on.barrier(wait, signal, 0);
                case ALLOCA -> buffer = on.alloca(wait, signal, OF_DEVICE, BYTES, 0);
                case DEALLOCA -> on.dealloca(wait, signal, Objects.requireNonNull(buffer), 0);
            }
        }
    }

    static Stream<Arguments> streams() {
        return Stream.of(GpuKind.values())
                .flatMap(kind -> Stream.of(FULL, GpuLane.WINDOW).map(window -> Arguments.of(kind, window)));
    }

    static Stream<Arguments> middles() {
        return streams()
                .flatMap(each -> Stream.of(Middle.values())
                        .flatMap(middle -> Stream.of(0, 1)
                                .flatMap(by -> Stream.of(0, 1)
                                        .map(last -> Arguments.of(each.get()[0], each.get()[1], middle, by, last)))));
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        if (device != null) {
            device.close();
            GpuDrivers.assertNothingLeft(device);
            Objects.requireNonNull(drivers).assertNothingToComplainOf();
        }
    }

    private TimelineSemaphore semaphore() {
        TimelineSemaphore made = TimelineSemaphore.create(0);
        opened.add(made);
        return made;
    }

    private Fence at(TimelineSemaphore semaphore, long value) {
        Fence fence = Fence.at(semaphore, value);
        opened.add(fence);
        return fence;
    }

    private Fence fence() {
        return at(semaphore(), 1);
    }

    private Buffer buffer() {
        Buffer made = Objects.requireNonNull(device).allocator().allocate(OF_DEVICE, BYTES);
        opened.add(made);
        return made;
    }

    private DeviceQueue queue(int index) {
        return Objects.requireNonNull(device).queue(index);
    }

    /** Opens a device with a stream standing still; the second fill will be refused. */
    private void open(GpuKind kind, int window) {
        drivers = GpuDrivers.fake(directory, kind, "fail=fill_32:2:2", window);
        device = drivers.open(DeviceOptions.builder());
    }

    private void fill(int queue, @Nullable Fence wait, Fence signal, Buffer target, int pattern) {
        queue(queue).fill(wait, signal, target, 0, BYTES, pattern, 4, 0);
    }

    private static byte[] bytes(Buffer buffer) {
        byte[] bytes = new byte[BYTES];
        buffer.read(0, MemorySegment.ofArray(bytes));
        return bytes;
    }

    private static IreeException failure(Fence fence) {
        IreeException failure = catchThrowableOfType(IreeException.class, () -> fence.await(LONG));
        assertThat(failure).isNotNull();
        return failure;
    }

    private long fills() {
        return Objects.requireNonNull(Objects.requireNonNull(drivers).library()).calls("fill_32");
    }

    private void assertFailedByDriver(Fence fence) {
        assertThat(failure(fence)).hasMessageContaining("OUT_OF_MEMORY (2)");
        assertThat(failure(fence).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
    }

    private void assertWorks() {
        Buffer target = buffer();
        Fence done = fence();
        fill(0, null, done, target, 3);
        done.await(LONG);
        assertThat(bytes(target)).contains(3);
    }

    @ParameterizedTest
    @MethodSource("middles")
    void commandsBehindRefusedCommandsDoNothing(GpuKind kind, int window, Middle middle, int by, int last) {
        open(kind, window);
        Buffer refused = buffer();
        Buffer target = buffer();
        Fence first = fence();
        Fence failed = fence();
        Fence between = middle == Middle.NOTHING ? failed : fence();
        Fence late = fence();
        middle.queue = queue(by);
        middle.buffer = middle == Middle.DEALLOCA ? queue(by).alloca(null, null, OF_DEVICE, BYTES, 0) : null;
        Objects.requireNonNull(drivers).hang();
        fill(0, null, first, target, 9);
        fill(0, null, failed, refused, 5);
        middle.accept(failed, between);
        fill(last, between, late, target, 7);
        Objects.requireNonNull(drivers).goOn();
        assertFailedByDriver(late);
        assertFailedByDriver(between);
        if (middle.buffer != null) {
            middle.buffer.close();
        }
        first.await(LONG);
        assertThat(fills()).isEqualTo(2);
        assertThat(bytes(target)).contains(9).doesNotContain(7);
        assertWorks();
    }

    @ParameterizedTest
    @MethodSource("streams")
    void commandsBehindWithheldCommandsAreWithheld(GpuKind kind, int window) {
        open(kind, window);
        Buffer target = buffer();
        Fence first = fence();
        Objects.requireNonNull(drivers).hang();
        fill(0, null, first, target, 9);
        List<Fence> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Fence done = fence();
            fill(i % 2, all.isEmpty() ? null : all.getLast(), done, target, 7);
            all.add(done);
        }
        Objects.requireNonNull(drivers).goOn();
        all.forEach(this::assertFailedByDriver);
        first.await(LONG);
        assertThat(fills()).isEqualTo(2);
        assertWorks();
    }

    /** A timeline of a single queue knows only its last promise, here of the refused commands. */
    @ParameterizedTest
    @MethodSource("streams")
    void commandsIndependentOfRefusedCommandsRun(GpuKind kind, int window) {
        open(kind, window);
        Buffer first = buffer();
        Buffer refused = buffer();
        Buffer beside = buffer();
        Buffer alone = buffer();
        Fence one = at(timeline, 1);
        Fence two = at(timeline, 2);
        Fence fork = fence();
        Fence independent = fence();
        Objects.requireNonNull(drivers).hang();
        fill(0, null, one, first, 9);
        fill(0, one, two, refused, 5);
        fill(0, one, fork, beside, 8);
        fill(0, null, independent, alone, 6);
        Objects.requireNonNull(drivers).goOn();
        fork.await(LONG);
        independent.await(LONG);
        assertFailedByDriver(two);
        assertThat(bytes(first)).contains(9);
        assertThat(bytes(beside)).contains(8);
        assertThat(bytes(alone)).contains(6);
    }
}

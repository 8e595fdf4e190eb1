package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A device with hidden memory, like a card: the fake driver has such a device. */
class HiddenMemoryTest {
    private static final BufferParams HIDDEN = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final int MIB = 1 << 20;

    @TempDir
    Path directory;

    private FakeDriver fake;
    private StreamDevice device;
    private DeviceQueue queue;
    private TimelineSemaphore timeline;
    private long last;
    private final Random random = new Random(Effort.seed(HiddenMemoryTest.class, "contents", 11));

    @BeforeEach
    void open() {
        fake = FakeDriver.in(directory, "");
        device = fake.open(DeviceOptions.builder().queueCount(0));
        queue = device.queue(0);
        timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
    }

    @AfterEach
    void close() {
        if (device == null) {
            return; // skipped
        }
        timeline.close();
        device.close();
        assertThat(device.allocator().statistics().bytesLive()).isZero();
        VulkanDrivers.assertNothingLeft(device);
        fake.assertNothingToComplainOf();
    }

    /** The fence created last. */
    private Fence before() {
        return last == 0 ? null : Fence.at(timeline, last);
    }

    private Fence next() {
        return Fence.at(timeline, ++last);
    }

    private byte[] contents(int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return bytes;
    }

    private Buffer hidden(byte[] contents) {
        return device.allocator().allocate(HIDDEN, MemorySegment.ofArray(contents));
    }

    private static byte[] read(Buffer buffer) {
        byte[] bytes = new byte[(int) buffer.length()];
        buffer.read(0, MemorySegment.ofArray(bytes));
        return bytes;
    }

    @Test
    void theHostCannotMapHiddenMemory() {
        try (Buffer buffer = device.allocator().allocate(HIDDEN, 64)) {
            assertThat(buffer.memoryType() & MemoryType.HOST_VISIBLE).isZero();
            assertThat(buffer.isMappable(MemoryAccess.READ)).isFalse();
            assertThatThrownBy(() -> buffer.map(MemoryAccess.READ, 0, 4))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.PERMISSION_DENIED));
        }
    }

    @Test
    void mappedMemoryIsVisibleToTheHost() {
        BufferParams mapped = new BufferParams(
                MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);
        try (Buffer strict = device.allocator().allocate(mapped, 64);
                Buffer wish = device.allocator().allocate(BufferParams.DEFAULT, 64)) {
            assertThat(strict.isMappable(MemoryAccess.ALL)).isTrue();
            assertThat(wish.isMappable(MemoryAccess.READ)).isFalse();
            assertThat(wish.memoryType() & MemoryType.DEVICE_LOCAL).isEqualTo(MemoryType.DEVICE_LOCAL);
        }
    }

    @Test
    void theHostReadsItsWritesOfAnySize() {
        for (int size : new int[] {0, 1, 3, 64, MIB, MIB + 1, 9 * MIB + 5, 33 * MIB}) {
            byte[] contents = contents(size);
            try (Buffer buffer = hidden(contents)) {
                assertThat(read(buffer)).as("%d bytes", size).isEqualTo(contents);
            }
        }
    }

    @Test
    void partsAreReadAndWrittenInPlace() {
        byte[] contents = contents(1000);
        try (Buffer buffer = hidden(contents);
                Buffer part = buffer.subspan(101, 500)) {
            byte[] patch = contents(7);
            part.write(13, MemorySegment.ofArray(patch));
            System.arraycopy(patch, 0, contents, 114, 7);
            assertThat(read(buffer)).isEqualTo(contents);
            byte[] few = new byte[5];
            part.read(12, MemorySegment.ofArray(few));
            assertThat(few).isEqualTo(Arrays.copyOfRange(contents, 113, 118));
        }
    }

    @Test
    void memoryConfinedToAThreadIsWrittenToo() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mine = arena.allocate(3 * MIB);
            mine.fill((byte) 5);
            try (Buffer buffer = device.allocator().allocate(HIDDEN, mine)) {
                assertThat(read(buffer)).containsOnly(5);
            }
        }
    }

    @Test
    void bufferReadOnlyForProgramsIsWrittenOnceByUs() {
        byte[] contents = contents(100);
        BufferParams constant = HIDDEN.withAccess(MemoryAccess.READ);
        try (Buffer buffer = device.allocator().allocate(constant, MemorySegment.ofArray(contents))) {
            assertThat(read(buffer)).isEqualTo(contents);
            assertThatThrownBy(() -> buffer.write(0, MemorySegment.ofArray(contents)))
                    .hasMessageContaining("access WRITE");
        }
    }

    @Test
    void updatesLargerThanASlotGoInParts() {
        byte[] contents = contents(5 * MIB + 77);
        try (Buffer buffer = device.allocator().allocate(HIDDEN, contents.length + 3)) {
            queue.fill(null, next(), buffer, 0, Buffer.WHOLE, 0, 1, 0);
            long before = queue.counters().submitted();
            Fence wait = before();
            queue.update(wait, next(), MemorySegment.ofArray(contents.clone()), buffer, 3, 0);
            before().await();
            assertThat(queue.counters().submitted() - before).as("operations").isEqualTo(1);
            byte[] all = read(buffer);
            assertThat(Arrays.copyOfRange(all, 3, all.length)).isEqualTo(contents);
            assertThat(all).startsWith(0, 0, 0);
        }
    }

    @Test
    void moreUpdatesThanSlotsAreMadeOneAfterTheOther() {
        int count = 50;
        byte[] contents = contents(count * MIB);
        try (Buffer buffer = device.allocator().allocate(HIDDEN, contents.length)) {
            Fence start = next(); // all are submitted before the first begins
            List<TimelineSemaphore> timelines = new ArrayList<>();
            List<Fence> ends = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                timelines.add(device.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
                Fence end = Fence.at(timelines.getLast(), 1);
                ends.add(end);
                MemorySegment piece = MemorySegment.ofArray(contents).asSlice((long) i * MIB, MIB);
                queue.update(start, end, piece, buffer, (long) i * MIB, 0);
            }
            start.signal();
            ends.forEach(Fence::await);
            timelines.forEach(TimelineSemaphore::close);
            assertThat(read(buffer)).isEqualTo(contents);
        }
    }

    @Test
    void filesAreReadAndWrittenThroughStaging() throws IOException {
        byte[] contents = contents(4 * MIB + 9);
        Path source = Files.write(directory.resolve("source"), contents);
        Path target = Files.write(directory.resolve("target"), new byte[contents.length + 5]);
        try (HalFile in = HalFile.open(source, MemoryAccess.READ);
                HalFile out = HalFile.open(target, MemoryAccess.READ | MemoryAccess.WRITE);
                Buffer buffer = device.allocator().allocate(HIDDEN, contents.length)) {
            queue.read(null, next(), in, 2, buffer, 1, contents.length - 2, 0);
            Fence wait = before();
            queue.write(wait, next(), buffer, 1, out, 5, contents.length - 2, 0);
            before().await();
        }
        byte[] written = Files.readAllBytes(target);
        assertThat(Arrays.copyOfRange(written, 5, 5 + contents.length - 2))
                .isEqualTo(Arrays.copyOfRange(contents, 2, contents.length));
        assertThat(written).startsWith(0, 0, 0, 0, 0).endsWith(0, 0);
    }

    @Test
    void readFailingInTheMiddleFailsAllAndGivesItsMemoryBack() throws IOException {
        Path source = Files.write(directory.resolve("short"), contents(3 * MIB));
        try (HalFile in = HalFile.open(source, MemoryAccess.READ);
                Buffer buffer = device.allocator().allocate(HIDDEN, 3 * MIB)) {
            Fence start = next();
            Fence end = next();
            queue.read(start, end, in, 0, buffer, 0, 3 * MIB, 0);
            Files.write(source, new byte[MIB + 100]); // truncated by another party
            start.signal();
            assertThatThrownBy(end::await)
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.OUT_OF_RANGE));
            theHostReadsItsWritesOfAnySize(); // all slots are free again
        }
    }

    @Test
    void allocationsOfQueuesAreHiddenToo() {
        Fence there = next();
        try (Buffer buffer = queue.alloca(null, there, HIDDEN, 1000, 0)) {
            Fence filled = next();
            queue.fill(there, filled, buffer, 0, 1000, 0x1234, 2, 0);
            filled.await();
            assertThat(read(buffer)).startsWith(0x34, 0x12, 0x34);
            Fence gone = next();
            queue.dealloca(filled, gone, buffer, 0);
            gone.await();
            assertThatThrownBy(() -> read(buffer)).hasMessageContaining("has been deallocated");
        }
    }

    @Test
    void hostMemoryIsNoDeviceMemory() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment bytes = arena.allocate(4096, 4096);
            assertThatThrownBy(() -> device.allocator().importHost(HIDDEN, bytes, null))
                    .isInstanceOfSatisfying(IreeException.class, e -> {
                        assertThat(e.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
                        assertThat(e).hasMessageContaining("copy it");
                    });
            bytes.fill((byte) 3);
            BufferParams visible = new BufferParams(MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT);
            try (Buffer lent = device.allocator().importHost(visible, bytes, null);
                    Buffer copy = device.allocator().allocate(HIDDEN, 4096)) {
                queue.copy(null, next(), lent, 0, copy, 0, 4096, 0);
                before().await();
                assertThat(read(copy)).containsOnly(3);
            }
        }
    }
}

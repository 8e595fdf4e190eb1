package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.ExternalMemory;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.nativeaccess.vulkan.VulkanFeature;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Memory of the installed driver. */
class VulkanMemoryTest {
    /** Memory of the host: not the device's own, where the two differ. */
    private static final BufferParams OF_HOST = new BufferParams(
            MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);

    private StreamDevice device;
    private DeviceQueue queue;

    @BeforeEach
    void open() {
        device = VulkanDrivers.open(DeviceOptions.builder());
        queue = device.queue(0);
    }

    @AfterEach
    void close() {
        if (device == null) {
            return; // skipped
        }
        device.close();
        assertThat(device.allocator().statistics().bytesLive()).isZero();
        VulkanDrivers.assertNothingLeft(device);
        VulkanDrivers.assertNothingToComplainOf();
    }

    private void run(Consumer<Fence> work) {
        try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(timeline, 1)) {
            work.accept(done);
            done.await();
        }
    }

    @Test
    void importedMemoryIsUsedInPlaceAndReleasedOnce() {
        assumeTrue(
                VulkanDrivers.handle(device).has(VulkanFeature.EXTERNAL_MEMORY_HOST),
                "the driver imports no host memory");
        AtomicInteger holders = new AtomicInteger();
        RefCounted owner = new RefCounted() {
            @Override
            public void retain() {
                holders.incrementAndGet();
            }

            @Override
            public void release() {
                holders.decrementAndGet();
            }
        };
        try (Arena arena = Arena.ofShared()) {
            MemorySegment around = arena.allocate(3 * 4096, 4096);
            around.fill((byte) 1);
            MemorySegment bytes = around.asSlice(4096 - 64, 4096 + 100); // across a page boundary
            Buffer buffer = device.allocator().importHost(OF_HOST, bytes, owner);
            assertThat(holders).hasValue(1);
            run(done -> queue.fill(null, done, buffer, 3, 4100, 7, 1, 0));
            assertThat(bytes.get(ValueLayout.JAVA_BYTE, 2)).isEqualTo((byte) 1);
            assertThat(bytes.get(ValueLayout.JAVA_BYTE, 3)).isEqualTo((byte) 7);
            assertThat(bytes.get(ValueLayout.JAVA_BYTE, 4102)).isEqualTo((byte) 7);
            assertThat(bytes.get(ValueLayout.JAVA_BYTE, 4103)).isEqualTo((byte) 1);
            buffer.close();
            assertThat(holders).hasValue(0);
        }
    }

    @Test
    void freedImportedMemoryIsNotTouched() {
        assumeTrue(
                VulkanDrivers.handle(device).has(VulkanFeature.EXTERNAL_MEMORY_HOST),
                "the driver imports no host memory");
        Buffer buffer;
        try (Arena arena = Arena.ofShared()) {
            buffer = device.allocator().importHost(OF_HOST, arena.allocate(4096, 4096), null);
        }
        try (buffer) {
            assertThatThrownBy(() -> run(done -> queue.fill(null, done, buffer, 0, 16, 7, 1, 0)))
                    .hasMessageContaining("keep its arena open");
        }
    }

    @Test
    void buffersOutliveTheirDevice() {
        Buffer small = device.allocator().allocate(BufferParams.DEFAULT, 100);
        Buffer large = device.allocator().allocate(BufferParams.DEFAULT, 20 << 20);
        device.close();
        if (small.isMappable(MemoryAccess.ALL)) {
            small.map(MemoryAccess.ALL, 0, 100).fill((byte) 1);
        }
        small.close();
        large.close();
    }

    @Test
    void mappedMemoryCannotBeTouchedOnceFreed() {
        Buffer large = device.allocator().allocate(BufferParams.DEFAULT, 20 << 20);
        assumeTrue(large.isMappable(MemoryAccess.ALL), "device memory is not host-visible");
        MemorySegment bytes = large.map(MemoryAccess.ALL, 0, Buffer.WHOLE);
        large.close();
        device.allocator().trim();
        assertThatThrownBy(() -> bytes.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void freedMemoryIsOverwrittenOnRequest() {
        assumeTrue(StreamDevices.poisons(device), "freed memory is not overwritten: -Diree4j.memory.poison=true");
        try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT)) {
            Buffer first = queue.alloca(null, Fence.at(timeline, 1), BufferParams.DEFAULT, 4096, 0);
            queue.fill(Fence.at(timeline, 1), Fence.at(timeline, 2), first, 0, 4096, 5, 1, 0);
            queue.dealloca(Fence.at(timeline, 2), Fence.at(timeline, 3), first, 0);
            Buffer second = queue.alloca(Fence.at(timeline, 3), Fence.at(timeline, 4), BufferParams.DEFAULT, 4096, 0);
            Fence.at(timeline, 4).await();
            byte[] bytes = new byte[4096];
            second.read(0, MemorySegment.ofArray(bytes));
            assertThat(bytes).as("the same memory, or unused memory").containsOnly(StreamDevices.POISON);
            first.close();
            second.close();
        }
    }

    @Test
    void memoryIsDeallocatedEvenIfUnobservable() {
        try (TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                TimelineSemaphore failed = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Buffer buffer = queue.alloca(null, Fence.at(timeline, 1), BufferParams.DEFAULT, 4096, 0)) {
            failed.fail(IreeException.of(StatusCode.CANCELLED, "failed without a listener"));
            queue.dealloca(Fence.at(timeline, 1), Fence.at(failed, 1), buffer, 0);
            queue.barrier(null, Fence.at(timeline, 2), 0);
            Fence.at(timeline, 2).await();
            assertThat(device.allocator().statistics().bytesLive()).isZero();
        }
    }

    /** A file with a blocking read. */
    private static final class SlowFile extends HalFile {
        private final long length;
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);

        SlowFile(long length) {
            super("slow file", MemoryAccess.READ);
            this.length = length;
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        protected void doRead(long offset, MemorySegment target) {
            begun.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            target.fill((byte) 1);
        }

        @Override
        protected void doWrite(long offset, MemorySegment source) {}

        @Override
        protected void destroy() {}
    }

    // BUF-1: storage is not freed while pinned by an operation.
    @Test
    void memoryStaysDuringAUseNotAwaitedByTheDeallocation() throws InterruptedException {
        long size = 20 << 20; // a separate slab
        try (StreamDevice two = VulkanDrivers.open(DeviceOptions.builder().queueCount(2));
                TimelineSemaphore timeline = two.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                TimelineSemaphore reader = two.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                SlowFile file = new SlowFile(size)) {
            Buffer buffer = two.queue(0).alloca(null, Fence.at(timeline, 1), BufferParams.DEFAULT, size, 0);
            Fence.at(timeline, 1).await();
            assumeTrue(buffer.isMappable(MemoryAccess.ALL), "device memory is not host-visible");
            two.queue(0).read(null, Fence.at(reader, 1), file, 0, buffer, 0, size, 0);
            file.begun.await();
            two.queue(1).dealloca(null, Fence.at(timeline, 2), buffer, 0);
            Fence.at(timeline, 2).await();
            two.allocator().trim();
            assertThat(two.allocator().statistics().bytesReserved()).isGreaterThanOrEqualTo(size);
            file.goOn.countDown();
            Fence.at(reader, 1).await();
            two.allocator().trim();
            assertThat(two.allocator().statistics().bytesReserved()).isLessThan(size);
            buffer.close();
        }
    }

    @Test
    void memoryIsSharedThroughDescriptors() {
        assumeTrue(VulkanDrivers.handle(device).has(VulkanFeature.EXTERNAL_MEMORY_FD), "the driver exports no memory");
        try (StreamDevice other = VulkanDrivers.open(DeviceOptions.builder());
                Buffer mine = device.allocator().allocateExportable(BufferParams.DEFAULT, 5000)) {
            run(done -> queue.fill(null, done, mine, 0, 5000, 0x0102, 2, 0));
            ExternalMemory descriptor = device.allocator().exportMemory(mine);
            assertThat(descriptor.size()).isEqualTo(5000);
            Buffer theirs = other.allocator().importMemory(BufferParams.DEFAULT, descriptor);
            byte[] bytes = new byte[4];
            theirs.read(4996, MemorySegment.ofArray(bytes));
            assertThat(bytes).containsExactly(2, 1, 2, 1);
            try (TimelineSemaphore timeline = other.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                    Fence done = Fence.at(timeline, 1)) {
                other.queue(0).fill(null, done, theirs, 4, 4, 9, 1, 0);
                done.await();
            }
            theirs.close();
            mine.read(3, MemorySegment.ofArray(bytes));
            assertThat(bytes).containsExactly(1, 9, 9, 9);
        }
    }

    @Test
    void memoryStaysWhileADescriptorIsOpen() {
        assumeTrue(VulkanDrivers.handle(device).has(VulkanFeature.EXTERNAL_MEMORY_FD), "the driver exports no memory");
        Buffer mine = device.allocator().allocateExportable(BufferParams.DEFAULT, 4096);
        mine.write(0, MemorySegment.ofArray(new byte[] {4, 5, 6, 7}));
        ExternalMemory first = device.allocator().exportMemory(mine);
        Buffer part = mine.subspan(0, 4);
        ExternalMemory second = device.allocator().exportMemory(part);
        assertThat(second.descriptor()).isNotEqualTo(first.descriptor());
        part.close();
        device.allocator().discard(second);
        mine.close();
        try (Buffer theirs = device.allocator().importMemory(BufferParams.DEFAULT, first)) {
            byte[] bytes = new byte[4];
            theirs.read(0, MemorySegment.ofArray(bytes));
            assertThat(bytes).containsExactly(4, 5, 6, 7);
        }
    }

    @Test
    void onlyMemoryMadeForExportIsExported() {
        try (Buffer pooled = device.allocator().allocate(BufferParams.DEFAULT, 64)) {
            assertThatThrownBy(() -> device.allocator().exportMemory(pooled))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }

    @Test
    void descriptorOfSomethingElseIsRefused() {
        assumeTrue(VulkanDrivers.handle(device).has(VulkanFeature.EXTERNAL_MEMORY_FD), "the driver imports no memory");
        String uuid = VulkanDrivers.handle(device).properties().deviceUuid();
        int type = StreamDevices.memory(device).kinds().device().type();
        assertThatThrownBy(() -> device.allocator()
                        .importMemory(BufferParams.DEFAULT, new ExternalMemory(1 << 20, 4096, type, uuid)))
                .isInstanceOf(IreeException.class);
        assertThatThrownBy(() -> device.allocator()
                        .importMemory(BufferParams.DEFAULT, new ExternalMemory(0, 4096, type, "ff".repeat(16))))
                .hasMessageContaining("cannot be imported by device");
    }

    @Test
    void bufferLargerThanAnAllocationMayBeIsRefusedWithTheLimit() {
        long limit = VulkanDrivers.handle(device).properties().limits().maxMemoryAllocationSize();
        assumeTrue(limit > 0 && limit < Long.MAX_VALUE, "the driver has no limit");
        assertThatThrownBy(() -> device.allocator().allocate(BufferParams.DEFAULT, limit + 1))
                .isInstanceOfSatisfying(IreeException.class, e -> {
                    assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                    assertThat(e).hasMessageContaining(Long.toString(limit));
                });
    }
}

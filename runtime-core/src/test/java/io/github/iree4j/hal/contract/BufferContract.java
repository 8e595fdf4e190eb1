package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.AllocatorStatistics;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract of every backend's memory. */
public abstract class BufferContract extends DeviceContract {
    /** On a backend, closed after each test. */
    protected BufferContract(Backend backend) {
        super(backend);
    }

    /** Memory of a test with a count of frees. */
    private static final class Owner extends Resource {
        private int freed;

        @Override
        protected void destroy() {
            freed++;
        }
    }

    @Test
    void keepsWrittenBytes() {
        assertThat(read(ints(1, 2, 3))).containsExactly(1, 2, 3);
    }

    @Test
    void memoryIsAlignedAtAnySize() {
        for (long size : new long[] {0, 1, 63, 64, 65, 1000, 4097, 300_000, 5_000_000}) {
            Buffer buffer = closed(device.allocator().allocate(PARAMS, size));
            assertThat(buffer.length()).isEqualTo(size);
            MemorySegment bytes = buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE);
            assertThat(bytes.byteSize()).isEqualTo(size);
            assertThat(bytes.address() % 64).isZero();
        }
        BufferParams page = new BufferParams(PARAMS.memoryType(), PARAMS.usage(), 0, -1, 65536);
        Buffer aligned = closed(device.allocator().allocate(page, 100));
        assertThat(aligned.map(MemoryAccess.READ, 0, 100).address() % 65536).isZero();
    }

    @Test
    void buffersDoNotShareMemory() {
        List<Buffer> buffers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Buffer buffer = closed(device.allocator().allocate(PARAMS, 1 + i * 7L));
            buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).fill((byte) i);
            buffers.add(buffer);
        }
        for (int i = 0; i < 200; i++) {
            byte expected = (byte) i;
            MemorySegment bytes = buffers.get(i).map(MemoryAccess.READ, 0, Buffer.WHOLE);
            assertThat(bytes.elements(ValueLayout.JAVA_BYTE))
                    .allMatch(b -> b.get(ValueLayout.JAVA_BYTE, 0) == expected);
        }
    }

    /** In any alignment of allocations by a driver. */
    @Test
    void memoryIsAlignedAsAskedFor() {
        for (long alignment : new long[] {64, 512, 1024, 4096, 65536}) {
            BufferParams aligned = new BufferParams(
                    PARAMS.memoryType(), PARAMS.usage(), PARAMS.access(), PARAMS.affinity(), alignment);
            Buffer buffer = closed(device.allocator().allocate(aligned, 100));
            assertThat(buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).address() % alignment)
                    .as("aligned to %d", alignment)
                    .isZero();
        }
    }

    @Test
    void refusesImpossibleParameters() {
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "length -1",
                () -> device.allocator().allocate(PARAMS, -1));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "alignment 48",
                () -> device.allocator().allocate(new BufferParams(0, 0, 0, -1, 48), 1));
        assertFails(
                StatusCode.RESOURCE_EXHAUSTED,
                "9223372036854775807",
                () -> device.allocator().allocate(PARAMS, Long.MAX_VALUE));
    }

    @Test
    void subspansAliasAndKeepTheAllocation() {
        Buffer whole = device.allocator().allocate(PARAMS, 64);
        Buffer part = whole.subspan(16, 32);
        Buffer inner = closed(part.subspan(4, Buffer.WHOLE));
        assertThat(inner.offset()).isEqualTo(20);
        assertThat(inner.length()).isEqualTo(28);
        assertThat(inner.allocatedBuffer()).isSameAs(whole);
        whole.map(MemoryAccess.WRITE, 20, 4).set(INT, 0, 77);
        whole.close();
        part.close();
        assertThat(inner.map(MemoryAccess.READ, 0, 4).get(INT, 0)).isEqualTo(77);
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> part.map(MemoryAccess.READ, 0, 4));
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> part.subspan(0, 1));
    }

    @Test
    void rangesOutsideAreRefused() {
        Buffer buffer = ints(1, 2);
        assertFails(
                StatusCode.OUT_OF_RANGE, "subspan [4, 12) does not fit buffer of 8 bytes", () -> buffer.subspan(4, 8));
        assertFails(StatusCode.OUT_OF_RANGE, "subspan [-4, 0)", () -> buffer.subspan(-4, 4));
        assertFails(StatusCode.OUT_OF_RANGE, "mapping", () -> buffer.map(MemoryAccess.READ, 9, Buffer.WHOLE));
        assertFails(StatusCode.OUT_OF_RANGE, "mapping [0, -2)", () -> buffer.map(MemoryAccess.READ, 0, -2));
        assertFails(
                StatusCode.OUT_OF_RANGE,
                "mapping [4, 4+9223372036854775807)",
                () -> buffer.map(MemoryAccess.READ, 4, Long.MAX_VALUE));
        assertThat(buffer.map(MemoryAccess.READ, 8, Buffer.WHOLE).byteSize()).isZero();
    }

    @Test
    void accessIsLimitedToTheAllowed() {
        Buffer readable = closed(device.allocator().allocate(PARAMS.withAccess(MemoryAccess.READ), 8));
        assertFails(
                StatusCode.PERMISSION_DENIED,
                "mapping needs a buffer with access WRITE, this one has READ",
                () -> readable.map(MemoryAccess.WRITE, 0, 8));
        assertThat(readable.map(MemoryAccess.READ, 0, 8).isReadOnly()).isTrue();
        assertFails(
                StatusCode.PERMISSION_DENIED,
                "usage SHARING_EXPORT",
                () -> readable.require("test", 0, BufferUsage.SHARING_EXPORT, 0));
    }

    @Test
    void isCountedAndLimited() {
        Device small = closed(open(DeviceOptions.builder().memoryLimit(1 << 20)));
        Buffer first = closed(small.allocator().allocate(PARAMS, 700_000));
        assertFails(
                StatusCode.RESOURCE_EXHAUSTED,
                "allocation of 500000 bytes exceeds the memory limit",
                () -> small.allocator().allocate(PARAMS, 500_000));
        AllocatorStatistics before = small.allocator().statistics();
        assertThat(before.bytesLive()).isBetween(700_000L, 1L << 20);
        first.close();
        closed(small.allocator().allocate(PARAMS, 1_000_000)).close();
        AllocatorStatistics after = small.allocator().statistics();
        assertThat(after.bytesLive()).isZero();
        assertThat(after.bytesPeak()).isGreaterThanOrEqualTo(1_000_000);
        assertThat(after.allocationCount()).isEqualTo(2);
        assertThat(after.freeCount()).isEqualTo(2);
        assertThat(after.bytesLimit()).isEqualTo(1 << 20);
    }

    @Test
    void importsHostMemoryWithoutCopying() {
        assume(Capability.HOST_IMPORTS);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment bytes = arena.allocate(backend.importGranularity(), backend.importGranularity());
            Owner owner = new Owner();
            try (Buffer buffer = device.allocator().importHost(IMPORTED, bytes, owner)) {
                owner.close();
                bytes.set(INT, 0, 5);
                assertThat(buffer.map(MemoryAccess.READ, 0, 4).get(INT, 0)).isEqualTo(5);
                assertThat(owner.freed).isZero();
            }
            assertThat(owner.freed).isEqualTo(1);
        }
    }

    @Test
    void hostMemoryIsImportedAgainOnceItsBufferIsClosed() {
        assume(Capability.HOST_IMPORTS);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment bytes = arena.allocate(backend.importGranularity(), backend.importGranularity());
            for (int i = 1; i <= 3; i++) {
                try (Buffer buffer = device.allocator().importHost(IMPORTED, bytes, null)) {
                    Fence done = fence();
                    queue.fill(null, done, buffer, 0, 4, i, 4, 0);
                    done.await();
                }
                assertThat(bytes.get(INT, 0)).isEqualTo(i);
            }
        }
    }

    /** Mappable or not. */
    @Test
    void partsAreReadAndWrittenByTheHost() {
        for (BufferParams params : new BufferParams[] {PARAMS, BufferParams.DEFAULT}) {
            Buffer whole = closed(device.allocator().allocate(params, 16));
            Buffer part = closed(whole.subspan(4, 8));
            whole.write(0, MemorySegment.ofArray(new byte[16]));
            whole.write(13, MemorySegment.ofArray(new byte[] {5, 6}));
            part.write(3, MemorySegment.ofArray(new byte[] {1, 2, 3}));
            MemorySegment all = MemorySegment.ofArray(new byte[16]);
            whole.read(0, all);
            assertThat(all.toArray(ValueLayout.JAVA_BYTE))
                    .containsExactly(0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 5, 6, 0);
            MemorySegment few = MemorySegment.ofArray(new byte[3]);
            part.read(4, few);
            assertThat(few.toArray(ValueLayout.JAVA_BYTE)).containsExactly(2, 3, 0);
            assertFails(StatusCode.OUT_OF_RANGE, "", () -> part.read(6, few));
        }
    }

    @Test
    void importsOnlyMemoryUsableByKernels() {
        assume(Capability.HOST_IMPORTS);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment bytes = arena.allocate(2 * backend.importGranularity(), backend.importGranularity());
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "on the Java heap",
                    () -> device.allocator().importHost(IMPORTED, MemorySegment.ofArray(new byte[64]), null));
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "is aligned to 4 bytes",
                    () -> device.allocator().importHost(IMPORTED, bytes.asSlice(4), null));
            assertFails(
                    StatusCode.PERMISSION_DENIED,
                    "is read-only",
                    () -> device.allocator().importHost(IMPORTED, bytes.asReadOnly(), null));
            Buffer constant = closed(
                    device.allocator().importHost(IMPORTED.withAccess(MemoryAccess.READ), bytes.asReadOnly(), null));
            assertFails(StatusCode.PERMISSION_DENIED, "access", () -> constant.map(MemoryAccess.WRITE, 0, 4));
            Fence done = fence();
            queue.fill(null, done, constant, 0, 4, 0, 4, 0);
            assertFails(done, StatusCode.PERMISSION_DENIED, "fill target needs a buffer with");
        }
    }

    @Test
    void memoryFreedUnderAnImportIsNotTouched() {
        assume(Capability.HOST_IMPORTS);
        Buffer buffer;
        try (Arena arena = Arena.ofShared()) {
            buffer = closed(device.allocator()
                    .importHost(
                            IMPORTED, arena.allocate(backend.importGranularity(), backend.importGranularity()), null));
        }
        Fence done = fence();
        queue.fill(null, done, buffer, 0, 64, 0, 1, 0);
        assertFails(done, StatusCode.FAILED_PRECONDITION, "has been freed");
    }

    @Test
    void ownersOfAnAllocationAreCounted() {
        Buffer buffer = ints(1, 2);
        Buffer part = closed(buffer.subspan(4, 4));
        assertThat(buffer.isTerminal()).isTrue();
        part.preserve();
        assertThat(buffer.isTerminal()).isFalse();
        assertThat(buffer.discard()).isFalse();
        assertThat(part.isTerminal()).isTrue();
        assertThat(part.discard()).isTrue();
        assertThat(part.discard()).isFalse();
    }

    @Test
    void closingTwiceIsHarmless() {
        Buffer buffer = ints(1);
        buffer.close();
        buffer.close();
        assertFails(StatusCode.FAILED_PRECONDITION, "buffer of 4 bytes is closed", () -> read(buffer));
        assertFails(StatusCode.FAILED_PRECONDITION, "buffer of 4 bytes is closed", buffer::retain);
    }

    @Test
    void viewsHoldTheirBuffer() {
        Buffer buffer = ints(1, 2, 3, 4, 5, 6);
        BufferView view =
                closed(BufferView.create(buffer, Shape.of(2, 3), ElementType.I32, BufferView.ENCODING_DENSE_ROW_MAJOR));
        buffer.close();
        assertThat(read(view.buffer())).hasSize(6);
        assertThat(view.shape()).isEqualTo(Shape.of(2, 3));
        assertThat(view.byteLength()).isEqualTo(24);
        assertThat(view).hasToString("2x3xi32");
        view.close();
        assertThat(buffer.isLive()).isFalse();
    }

    @Test
    void viewsMustFitTheirBuffer() {
        Buffer buffer = ints(1, 2, 3);
        assertFails(
                StatusCode.OUT_OF_RANGE,
                "4xf32 needs 16 bytes and does not fit buffer of 12 bytes",
                () -> BufferView.create(buffer, Shape.of(4), ElementType.F32, 1));
        assertFails(
                StatusCode.OUT_OF_RANGE,
                "2^63 - 1",
                () -> BufferView.create(buffer, Shape.of(1L << 62, 4), ElementType.F32, 1));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "dimension 1 of shape 2x-1 is negative",
                () -> BufferView.create(buffer, Shape.of(2, -1), ElementType.F32, 1));
        closed(BufferView.create(buffer, Shape.of(0, 1L << 62), ElementType.F32, 1));
    }

    @Test
    void deviceMemoryCanBeMappedByTheHostOrRefusesToBe() {
        Buffer buffer = closed(device.allocator().allocate(BufferParams.DEFAULT, 8));
        boolean isOfHost = device.isMemoryOfHost();
        assertThat((buffer.memoryType() & MemoryType.HOST_VISIBLE) != 0).isEqualTo(isOfHost);
        assertThat(buffer.isMappable(MemoryAccess.WRITE)).isEqualTo(isOfHost);
        if (isOfHost) {
            buffer.map(MemoryAccess.WRITE, 0, 8).fill((byte) 1);
            return;
        }
        assertFails(StatusCode.PERMISSION_DENIED, "HOST_VISIBLE", () -> buffer.map(MemoryAccess.WRITE, 0, 8));
        buffer.write(0, MemorySegment.ofArray(new byte[] {1, 2, 3, 4}));
        MemorySegment known = MemorySegment.ofArray(new byte[4]);
        buffer.read(0, known);
        assertThat(known.get(INT, 0)).isEqualTo(0x04030201);
    }
}

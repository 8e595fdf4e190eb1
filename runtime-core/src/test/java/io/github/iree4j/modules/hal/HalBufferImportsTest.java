package io.github.iree4j.modules.hal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Devices, allocators, buffers and buffer views as seen by programs. */
class HalBufferImportsTest {
    private static final int DEVICE_MEMORY = MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE;
    private static final int MAPPED = BufferUsage.DEFAULT | BufferUsage.MAPPING;
    private static final int F32 = ElementType.F32.encoding();
    private static final int DENSE = BufferView.ENCODING_DENSE_ROW_MAJOR;

    private final List<String> traces = new ArrayList<>();
    private final HalFixture hal = new HalFixture((key, views) -> traces.add(key + " " + views));

    @AfterEach
    void nothingIsLeft() {
        hal.close();
    }

    @Test
    void devicesAreCountedAndFoundByIndex() {
        assertThat(hal.<Integer>one("devices.count", "0v_i")).isEqualTo(1);
        assertThat(hal.<Object>one("devices.get", "0i_r", 0)).isSameAs(hal.device);
        assertThat(hal.<Object>one("devices.get", "0i_r", 1)).isNull();
        assertThat(hal.<Object>one("devices.get", "0i_r", -1)).isNull();
        assertThat(hal.<Object>one("device.allocator", "0r_r", hal.device)).isSameAs(hal.device.allocator());
    }

    @Test
    void queriesAnswerOrReportTheImpossibility() {
        assertThat(query("hal.device.id", "local*")).containsExactly(1, 1L);
        assertThat(query("hal.device.id", "cuda")).containsExactly(1, 0L);
        assertThat(query("hal.executable.format", AddKernel.FORMAT)).containsExactly(1, 1L);
        assertThat(query("hal.executable.format", "cuda-nvptx-fb")).containsExactly(1, 0L);
        assertThat(query("no.such.category", "key")).containsExactly(0, 0L);
    }

    private List<Object> query(String category, String key) {
        return hal.call("device.query.i64", "0rrr_iI", hal.device, HalFixture.text(category), HalFixture.text(key));
    }

    @Test
    void argumentsOfTheWrongTypeAreRefusedByName() {
        assertThat(hal.failure(StatusCode.INVALID_ARGUMENT, "device.allocator", "0r_r", HalFixture.text("x")))
                .hasMessageContaining("hal.device.allocator")
                .hasMessageContaining("Device");
        assertThat(hal.failure(StatusCode.INVALID_ARGUMENT, "buffer.length", "0r_I", new Object[] {null}))
                .hasMessageContaining("null");
        assertThat(hal.failure(StatusCode.OUT_OF_RANGE, "buffer.subspan", "0rII_r", hal.buffer(1), 2L, 3L))
                .as("a failure within the HAL")
                .hasMessageContaining("in 'hal.buffer.subspan'");
    }

    @Test
    void allocatedBuffersStoreAndLoadTheLowBytes() {
        Buffer buffer = allocate(16);
        assertThat(hal.<Long>one("buffer.length", "0r_I", buffer)).isEqualTo(16);
        hal.call("buffer.store", "0irIi_v", 0x11223344, buffer, 4L, 4);
        hal.call("buffer.store", "0irIi_v", 0xFFFF_FF55, buffer, 5L, 1);
        assertThat(hal.<Integer>one("buffer.load", "0rIi_i", buffer, 4L, 4)).isEqualTo(0x11225544);
        assertThat(hal.<Integer>one("buffer.load", "0rIi_i", buffer, 5L, 2)).isEqualTo(0x2255);
        assertThat(hal.<Integer>one("buffer.load", "0rIi_i", buffer, 7L, 1)).isEqualTo(0x11);
        hal.failure(StatusCode.INVALID_ARGUMENT, "buffer.load", "0rIi_i", buffer, 0L, 5);
        hal.failure(StatusCode.INVALID_ARGUMENT, "buffer.load", "0rIi_i", buffer, 0L, -1);
        hal.failure(StatusCode.OUT_OF_RANGE, "buffer.load", "0rIi_i", buffer, 13L, 4);
        hal.failure(StatusCode.OUT_OF_RANGE, "buffer.load", "0rIi_i", buffer, Long.MIN_VALUE, 4);
        hal.failure(StatusCode.OUT_OF_RANGE, "buffer.store", "0irIi_v", 0, buffer, Long.MAX_VALUE, 4);
    }

    private Buffer allocate(long size) {
        return hal.one("allocator.allocate", "0rIiiI_r", hal.device.allocator(), -1L, DEVICE_MEMORY, MAPPED, size);
    }

    @Test
    void allocationsRefuseUndefinedBitsAndInvalidSizes() {
        Allocator allocator = hal.device.allocator();
        assertThat(hal.failure(
                        StatusCode.INVALID_ARGUMENT,
                        "allocator.allocate",
                        "0rIiiI_r",
                        allocator,
                        -1L,
                        0x80,
                        MAPPED,
                        4L))
                .hasMessageContaining("'memory types' is 0x80");
        hal.failure(
                StatusCode.INVALID_ARGUMENT,
                "allocator.allocate",
                "0rIiiI_r",
                allocator,
                -1L,
                DEVICE_MEMORY,
                1 << 31,
                4L);
        hal.failure(
                StatusCode.INVALID_ARGUMENT,
                "allocator.allocate",
                "0rIiiI_r",
                allocator,
                -1L,
                DEVICE_MEMORY,
                MAPPED,
                -4L);
    }

    @Test
    void selectionTakesTheFirstPair() {
        List<Object> selected = hal.call(
                "allocator.select",
                "0iiICrID_rI",
                0x30,
                3,
                0L,
                List.of(List.of(hal.device, 5L), List.of(hal.device, 6L)));
        assertThat(selected).containsExactly(hal.device, 5L);
        hal.failure(StatusCode.INVALID_ARGUMENT, "allocator.select", "0iiICrID_rI", 0x30, 3, 0L, List.of());
    }

    @Test
    void subspansAliasTheirBufferAndKeepIt() {
        Buffer buffer = allocate(16);
        Buffer part = hal.one("buffer.subspan", "0rII_r", buffer, 4L, 8L);
        hal.call("buffer.store", "0irIi_v", 42, part, 0L, 4);
        assertThat(hal.<Integer>one("buffer.load", "0rIi_i", buffer, 4L, 4)).isEqualTo(42);
        assertThat(hal.<Long>one("buffer.length", "0r_I", part)).isEqualTo(8);
        hal.failure(StatusCode.OUT_OF_RANGE, "buffer.subspan", "0rII_r", buffer, 12L, 8L);
        hal.failure(StatusCode.OUT_OF_RANGE, "buffer.subspan", "0rII_r", buffer, -1L, 8L);
        hal.failure(StatusCode.OUT_OF_RANGE, "buffer.subspan", "0rII_r", buffer, 1L, Long.MAX_VALUE);
        hal.failure(StatusCode.OUT_OF_RANGE, "buffer.subspan", "0rII_r", part, 4L, 8L);
    }

    @Test
    void assertionsOnBuffersNameTheMissingPart() {
        Buffer buffer = allocate(16);
        Allocator allocator = hal.device.allocator();
        VmBuffer input = HalFixture.text("input0");
        hal.call("buffer.assert", "0rrrIii_v", buffer, input, allocator, 16L, MemoryType.DEVICE_VISIBLE, 3);
        assertThat(hal.failure(
                        StatusCode.OUT_OF_RANGE, "buffer.assert", "0rrrIii_v", buffer, input, allocator, 17L, 0, 0))
                .hasMessageContaining("input0")
                .hasMessageContaining("16 bytes")
                .hasMessageContaining("17");
        assertThat(hal.failure(
                        StatusCode.PERMISSION_DENIED,
                        "buffer.assert",
                        "0rrrIii_v",
                        buffer,
                        input,
                        allocator,
                        16L,
                        0,
                        BufferUsage.SHARING_EXPORT))
                .hasMessageContaining("SHARING_EXPORT");
    }

    @Test
    void discardReportsTheLastOwner() {
        Buffer part = hal.one("buffer.subspan", "0rII_r", allocate(16), 0L, 8L);
        assertThat(hal.<Integer>one("buffer.allocation.is_terminal", "0r_i", part))
                .isEqualTo(1);
        hal.call("buffer.allocation.preserve", "0r_v", part);
        assertThat(hal.<Integer>one("buffer.allocation.is_terminal", "0r_i", part))
                .isZero();
        assertThat(hal.<Integer>one("buffer.allocation.discard", "0r_i", part)).isZero();
        assertThat(hal.<Integer>one("buffer.allocation.discard", "0r_i", part)).isEqualTo(1);
    }

    @Test
    void constantsAreImportedWithoutACopyAndStayMapped() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(128, 64);
            memory.set(ValueLayout.JAVA_INT, 64, 77);
            Owner owner = new Owner();
            VmBuffer constant = VmBuffer.constant(memory, owner);
            int usage = MAPPED | BufferUsage.SHARING_IMMUTABLE;
            Buffer buffer = hal.one(
                    "allocator.import",
                    "0riIiirII_r",
                    hal.device.allocator(),
                    0,
                    -1L,
                    DEVICE_MEMORY,
                    usage,
                    constant,
                    64L,
                    -1L);
            assertThat(hal.<Integer>one("buffer.load", "0rIi_i", buffer, 0L, 4)).isEqualTo(77);
            memory.set(ValueLayout.JAVA_INT, 64, 78);
            assertThat(hal.<Integer>one("buffer.load", "0rIi_i", buffer, 0L, 4))
                    .as("seen through the same memory")
                    .isEqualTo(78);
            assertThat(hal.<Long>one("buffer.length", "0r_I", buffer)).isEqualTo(64);
            hal.failure(StatusCode.PERMISSION_DENIED, "buffer.store", "0irIi_v", 0, buffer, 0L, 4);
            owner.close();
            assertThat(owner.isLive()).as("owner while the buffer lives").isTrue();
            hal.releaseLast();
            assertThat(owner.isLive()).as("owner after the buffer").isFalse();
        }
    }

    private static final class Owner extends Resource {
        @Override
        protected void destroy() {}
    }

    @Test
    void impossibleImportsAreNullWhenOnlyTried() {
        VmBuffer heap = VmBuffer.wrap(MemorySegment.ofArray(new byte[64]), true, null);
        assertThat(importing(heap, 1, MAPPED, 0L, -1L)).isNull();
        hal.failure(
                StatusCode.INVALID_ARGUMENT,
                "allocator.import",
                "0riIiirII_r",
                hal.device.allocator(),
                0,
                -1L,
                DEVICE_MEMORY,
                MAPPED,
                heap,
                0L,
                -1L);
        VmBuffer constant = HalFixture.bytes(1, 2, 3);
        hal.failure(
                StatusCode.PERMISSION_DENIED,
                "allocator.import",
                "0riIiirII_r",
                hal.device.allocator(),
                1,
                -1L,
                DEVICE_MEMORY,
                MAPPED,
                constant,
                0L,
                -1L);
        for (long[] range : new long[][] {{4, -1}, {0, 65}, {-1, 1}, {0, -2}, {Long.MAX_VALUE, Long.MAX_VALUE}}) {
            hal.failure(
                    StatusCode.OUT_OF_RANGE,
                    "allocator.import",
                    "0riIiirII_r",
                    hal.device.allocator(),
                    1,
                    -1L,
                    DEVICE_MEMORY,
                    MAPPED | BufferUsage.SHARING_IMMUTABLE,
                    constant,
                    range[0],
                    range[1]);
        }
    }

    private Object importing(VmBuffer source, int isTry, int usage, long offset, long length) {
        return hal.one(
                "allocator.import",
                "0riIiirII_r",
                hal.device.allocator(),
                isTry,
                -1L,
                DEVICE_MEMORY,
                usage,
                source,
                offset,
                length);
    }

    @Test
    void memoryBecomesAReadOnlyFile() {
        VmBuffer bytes = HalFixture.bytes(1, 2, 3, 4);
        HalFile file = hal.one("ex.file.from_memory", "0rIirIIi_r", hal.device, -1L, 1, bytes, 1L, 3L, 0);
        assertThat(file.length()).isEqualTo(3);
        hal.failure(
                StatusCode.PERMISSION_DENIED,
                "ex.file.from_memory",
                "0rIirIIi_r",
                hal.device,
                -1L,
                3,
                bytes,
                0L,
                4L,
                0);
        hal.failure(StatusCode.OUT_OF_RANGE, "ex.file.from_memory", "0rIirIIi_r", hal.device, -1L, 1, bytes, 2L, 3L, 0);
    }

    @Test
    void viewsHaveTheGivenShapeAndType() {
        Buffer buffer = allocate(24);
        BufferView view = hal.one(
                "buffer_view.create", "0rIIiiCID_r", buffer, 0L, 24L, F32, DENSE, List.of(List.of(2L), List.of(3L)));
        assertThat(hal.<Object>one("buffer_view.buffer", "0r_r", view)).isSameAs(buffer);
        assertThat(hal.<Integer>one("buffer_view.rank", "0r_i", view)).isEqualTo(2);
        assertThat(hal.<Long>one("buffer_view.dim", "0ri_I", view, 1)).isEqualTo(3);
        assertThat(hal.<Integer>one("buffer_view.element_type", "0r_i", view)).isEqualTo(F32);
        assertThat(hal.<Integer>one("buffer_view.encoding_type", "0r_i", view)).isEqualTo(DENSE);
        hal.failure(StatusCode.OUT_OF_RANGE, "buffer_view.dim", "0ri_I", view, 2);
        hal.failure(StatusCode.OUT_OF_RANGE, "buffer_view.dim", "0ri_I", view, -1);
    }

    @Test
    void viewsOfAPartBelongToThePart() {
        Buffer buffer = allocate(24);
        BufferView view =
                hal.one("buffer_view.create", "0rIIiiCID_r", buffer, 8L, 16L, F32, DENSE, List.of(List.of(4L)));
        Buffer part = hal.one("buffer_view.buffer", "0r_r", view);
        assertThat(part.offset()).isEqualTo(8);
        assertThat(part.length()).isEqualTo(16);
        hal.failure(
                StatusCode.OUT_OF_RANGE,
                "buffer_view.create",
                "0rIIiiCID_r",
                buffer,
                16L,
                16L,
                F32,
                DENSE,
                List.of(List.of(4L)));
        hal.failure(
                StatusCode.OUT_OF_RANGE,
                "buffer_view.create",
                "0rIIiiCID_r",
                buffer,
                8L,
                16L,
                F32,
                DENSE,
                List.of(List.of(5L)));
    }

    @Test
    void viewsRefuseImpossibleShapes() {
        Buffer buffer = allocate(24);
        List<List<Long>> deep = java.util.Collections.nCopies(129, List.of(1L));
        hal.failure(
                StatusCode.RESOURCE_EXHAUSTED, "buffer_view.create", "0rIIiiCID_r", buffer, 0L, 24L, F32, DENSE, deep);
        hal.failure(
                StatusCode.INVALID_ARGUMENT,
                "buffer_view.create",
                "0rIIiiCID_r",
                buffer,
                0L,
                24L,
                F32,
                DENSE,
                List.of(List.of(-1L)));
        for (List<List<Long>> huge :
                List.of(List.of(List.of(1L << 32), List.of(1L << 32)), List.of(List.of(Long.MAX_VALUE)))) {
            assertThat(hal.failure(null, "buffer_view.create", "0rIIiiCID_r", buffer, 0L, 24L, F32, DENSE, huge)
                            .code())
                    .isIn(StatusCode.INVALID_ARGUMENT, StatusCode.OUT_OF_RANGE);
        }
    }

    @Test
    void assertionsOnViewsCompareIntegersByWidthAndLetOpaquePass() {
        BufferView view = hal.view(ElementType.SI32, DENSE, 2, 3);
        check(view, ElementType.I32, DENSE, 2L, 3L);
        check(view, ElementType.UI32, DENSE, 2L, 3L);
        check(hal.view(ElementType.OPAQUE_32, DENSE, 2, 3), ElementType.F32, DENSE, 2L, 3L);
        check(hal.view(ElementType.F32, BufferView.ENCODING_OPAQUE, 2, 3), ElementType.F32, DENSE, 2L, 3L);
        check(hal.view(ElementType.F32, DENSE), ElementType.F32, DENSE);
    }

    private void check(BufferView view, ElementType type, int encoding, Long... shape) {
        hal.call(
                "buffer_view.assert",
                "0rriiCID_v",
                view,
                HalFixture.text("in"),
                type.encoding(),
                encoding,
                span(shape));
    }

    @Test
    void booleansAndBytesAreInterchangeable() {
        check(hal.view(ElementType.BOOL_8, DENSE, 2), ElementType.I8, DENSE, 2L);
        check(hal.view(ElementType.UI8, DENSE, 2), ElementType.BOOL_8, DENSE, 2L);
        mismatch(hal.view(ElementType.BOOL_8, DENSE, 2), "expected i16 but have i1", ElementType.I16, DENSE, 2L);
    }

    private static List<List<Long>> span(Long... values) {
        return java.util.Arrays.stream(values).map(List::of).toList();
    }

    @Test
    void assertionsOnViewsNameTheDifference() {
        BufferView view = hal.view(ElementType.F32, DENSE, 2, 3);
        mismatch(view, "element type mismatch, expected i32 but have f32", ElementType.I32, DENSE, 2L, 3L);
        mismatch(view, "element type mismatch, expected f64 but have f32", ElementType.F64, DENSE, 2L, 3L);
        mismatch(view, "encoding mismatch", ElementType.F32, 99, 2L, 3L);
        mismatch(view, "shape rank mismatch, expected 1 but have 2 (2x3xf32)", ElementType.F32, DENSE, 6L);
        mismatch(view, "shape dimension 1 mismatch, expected 4 but have 3 (2x3xf32)", ElementType.F32, DENSE, 2L, 4L);
    }

    private void mismatch(BufferView view, String words, ElementType type, int encoding, Long... shape) {
        assertThat(hal.failure(
                        StatusCode.INVALID_ARGUMENT,
                        "buffer_view.assert",
                        "0rriiCID_v",
                        view,
                        HalFixture.text("input 1"),
                        type.encoding(),
                        encoding,
                        span(shape)))
                .hasMessageContaining("input 1")
                .hasMessageContaining(words);
    }

    @Test
    void tracesReachTheSink() {
        BufferView view = hal.view(ElementType.F32, DENSE, 2, 3);
        hal.call("buffer_view.trace", "0rCrD_v", HalFixture.text("layer 1"), List.of(List.of(view), List.of(view)));
        assertThat(traces).containsExactly("layer 1 [2x3xf32, 2x3xf32]");
        hal.failure(
                StatusCode.RESOURCE_EXHAUSTED,
                "buffer_view.trace",
                "0rCrD_v",
                HalFixture.text("many"),
                java.util.Collections.nCopies(129, List.of(view)));
    }
}

package io.github.iree4j.modules.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.modules.ModuleCalls;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CheckModuleTest {
    private final List<String> heard = new ArrayList<>();
    private final Device device = new LocalDriverProvider().open("local", DeviceOptions.DEFAULTS);
    private final ModuleCalls check = new ModuleCalls(CheckModule.create(
            (expectation, failure) -> heard.add(expectation + (failure == null ? " ok" : " failed"))));
    private final List<BufferView> views = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() {
        views.forEach(BufferView::close);
        check.close();
        assertThat(device.allocator().statistics().bytesLive()).isZero();
        device.close();
    }

    private BufferView view(ElementType type, MemorySegment values, long... shape) {
        return view(BufferParams.DEFAULT, type, values, shape);
    }

    private BufferView view(BufferParams params, ElementType type, MemorySegment values, long... shape) {
        try (Buffer buffer = device.allocator().allocate(params, values.byteSize())) {
            device.queue(0).update(null, null, values, buffer, 0, 0);
            BufferView view = BufferView.create(buffer, Shape.of(shape), type, BufferView.ENCODING_DENSE_ROW_MAJOR);
            views.add(view);
            return view;
        }
    }

    private BufferView floats(float... values) {
        return view(ElementType.F32, MemorySegment.ofArray(values), values.length);
    }

    private BufferView ints(int... values) {
        return view(ElementType.I32, MemorySegment.ofArray(values), values.length);
    }

    private IreeException fails(String name, String convention, Object... arguments) {
        return check.failure(StatusCode.ABORTED, name, convention, arguments);
    }

    @Test
    void scalarsAreCheckedAndReported() {
        check.call("expect_true", "0i_v", 2);
        check.call("expect_false", "0i_v", 0);
        fails("expect_true", "0i_v", 0);
        assertThat(fails("expect_false", "0i_v", 7)).hasMessageContaining("expected 0 but have 7");
        assertThat(heard)
                .containsExactly("expect_true ok", "expect_false ok", "expect_true failed", "expect_false failed");
    }

    @Test
    void allElementsMustBeTrue() {
        check.call("expect_all_true", "0rr_v", device, ints(1, -1));
        check.call("expect_all_true", "0rr_v", device, floats(0.5f));
        assertThat(fails("expect_all_true", "0rr_v", device, ints(1, 0)))
                .hasMessageContaining("element 1 is: 2xi32=1 0");
        fails("expect_all_true", "0rr_v", device, floats(-0f));
    }

    @Test
    void formsUntilMarch2025CompareWithAFixedTolerance() {
        check.call("expect_almost_eq", "0rrr_v", device, floats(1.00009f), floats(1));
        fails("expect_almost_eq", "0rrr_v", device, floats(1.00011f), floats(1));
        BufferView half =
                view(ElementType.F16, MemorySegment.ofArray(new short[] {Float.floatToFloat16(1.0009766f)}), 1);
        BufferView one = view(ElementType.F16, MemorySegment.ofArray(new short[] {Float.floatToFloat16(1)}), 1);
        check.call("expect_almost_eq", "0rrr_v", device, half, one);
    }

    @Test
    void formsUntilOctober2023HaveNoDevice() {
        check.call("expect_all_true", "0r_v", ints(1, -1));
        fails("expect_all_true", "0r_v", ints(1, 0));
        check.call("expect_eq", "0rr_v", ints(1, 2), ints(1, 2));
        fails("expect_eq", "0rr_v", ints(1, 2), ints(1, 3));
        check.call("expect_almost_eq", "0rr_v", floats(1), floats(1));
        fails("expect_almost_eq", "0rr_v", floats(1), floats(2));
    }

    @Test
    void equalityIsOfTypeShapeAndBytes() {
        check.call("expect_eq", "0rrr_v", device, ints(1, 2), ints(1, 2));
        assertThat(fails("expect_eq", "0rrr_v", device, ints(1, 2), ints(1, 3)))
                .hasMessageContaining("contents differ from byte 4 on; lhs: 2xi32=1 2; rhs: 2xi32=1 3");
        assertThat(fails("expect_eq", "0rrr_v", device, ints(0), floats(0)))
                .hasMessageContaining("element types differ");
        assertThat(fails("expect_eq", "0rrr_v", device, ints(0), ints(0, 0))).hasMessageContaining("shapes differ");
    }

    @Test
    void nearEqualityAllowsBothTolerancesOfTheExpectedValue() {
        almost(floats(1.05f), floats(1), 0.1f, 0);
        almost(floats(105), floats(100), 0, 0.06f);
        almost(floats(Float.NaN), floats(Float.NaN), 0, 0);
        almost(floats(Float.POSITIVE_INFINITY), floats(Float.POSITIVE_INFINITY), 0, 0);
        assertThat(fails("expect_almost_eq", "0rrrff_v", device, floats(1, 2), floats(1, 2.5f), 0.1f, 0.1f))
                .hasMessageContaining("element 1 is 2.0 and differs by -0.5 from 2.5");
        fails("expect_almost_eq", "0rrrff_v", device, floats(1), floats(Float.NaN), 9f, 9f);
        fails("expect_almost_eq", "0rrrff_v", device, floats(1), floats(Float.POSITIVE_INFINITY), 9f, 9f);
    }

    private void almost(BufferView lhs, BufferView rhs, float absolute, float relative) {
        check.call("expect_almost_eq", "0rrrff_v", device, lhs, rhs, absolute, relative);
    }

    @Test
    void smallFloatsAreComparedByValue() {
        BufferView f16 = view(ElementType.F16, MemorySegment.ofArray(new short[] {Float.floatToFloat16(1.5f)}), 1);
        BufferView f16b = view(ElementType.F16, MemorySegment.ofArray(new short[] {Float.floatToFloat16(1.25f)}), 1);
        almost(f16, f16b, 0.25f, 0);
        fails("expect_almost_eq", "0rrrff_v", device, f16, f16b, 0.2f, 0f);
        byte[][] pairs = {{0x38, 0x39}, {0x3C, 0x3D}, {0x40, 0x41}, {0x40, 0x41}, {0x7F, (byte) 0x80}};
        ElementType[] types = {
            ElementType.F8_E4M3_FN,
            ElementType.F8_E5M2,
            ElementType.F8_E4M3_FNUZ,
            ElementType.F8_E5M2_FNUZ,
            ElementType.F8_E8M0_FNU
        };
        float[] differences = {0.125f, 0.25f, 0.125f, 0.25f, 1};
        for (int i = 0; i < types.length; i++) {
            BufferView low = view(types[i], MemorySegment.ofArray(new byte[] {pairs[i][0]}), 1);
            BufferView high = view(types[i], MemorySegment.ofArray(new byte[] {pairs[i][1]}), 1);
            almost(low, high, differences[i], 0);
            fails("expect_almost_eq", "0rrrff_v", device, low, high, differences[i] * 0.9f, 0f);
        }
    }

    @Test
    void buffersUnmappableByTheHostAreCopied() {
        BufferParams unmapped = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
        MemorySegment values = MemorySegment.ofArray(new int[] {1, 2});
        check.call(
                "expect_eq",
                "0rrr_v",
                device,
                view(unmapped, ElementType.I32, values, 2),
                view(unmapped, ElementType.I32, values, 2));
    }
}

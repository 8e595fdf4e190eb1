package io.github.iree4j.modules.check;

import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.modules.hal.ElementValues;
import io.github.iree4j.modules.hal.HostBytes;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmModule;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The {@code check} module: expectations on scalars and tensors. A violated expectation is reported and, except with {@link
 * #createForRunner}, fails the call with ABORTED.
 */
public final class CheckModule {
    private static final int MAX_PRINTED_ELEMENTS = 64;
    private static final double FIXED_TOLERANCE = 1e-4f;
    private static final double FIXED_TOLERANCE_F16 = 1e-3f;

    private final CheckListener listener;
    private final boolean goesOn;

    private CheckModule(CheckListener listener, boolean goesOn) {
        this.listener = listener;
        this.goesOn = goesOn;
    }

    /**
     * Creates the module.
     *
     * @param listener receives every outcome
     * @return the module
     */
    public static VmModule create(CheckListener listener) {
        return create(listener, false);
    }

    /**
     * Creates the module for a test runner, like IREE's test runner: a violated expectation is reported and the call
     * continues, so a test reports all violations.
     *
     * @param listener receives every outcome, and decides about failure
     * @return the module
     */
    public static VmModule createForRunner(CheckListener listener) {
        return create(listener, true);
    }

    private static VmModule create(CheckListener listener, boolean goesOn) {
        return NativeModule.builder("check", 0, () -> new CheckModule(listener, goesOn))
                .function("expect_true", "0i_v", CheckModule::expectTrue)
                .function("expect_false", "0i_v", CheckModule::expectFalse)
                .function("expect_all_true", "0rr_v", (check, call) -> check.expectAllTrue(afterDevice(call)))
                .function("expect_eq", "0rrr_v", (check, call) -> check.expectEq(afterDevice(call)))
                .function("expect_almost_eq", "0rrrff_v", (check, call) -> check.expectAlmostEq(afterDevice(call)))
                // Until March 2025: tolerances were fixed.
                .function("expect_almost_eq", "0rrr_v", (check, call) -> check.expectAlmostEqAsFixed(afterDevice(call)))
                // Until October 2023.
                .function("expect_all_true", "0r_v", CheckModule::expectAllTrue)
                .function("expect_eq", "0rr_v", CheckModule::expectEq)
                .function("expect_almost_eq", "0rr_v", CheckModule::expectAlmostEqAsFixed)
                .build();
    }

    private void expectTrue(VmCall call) {
        int value = call.i32();
        report("expect_true", value != 0 ? null : "expected a value other than 0");
    }

    private void expectFalse(VmCall call) {
        int value = call.i32();
        report("expect_false", value == 0 ? null : "expected 0 but have " + value);
    }

    /** Skips the device argument, meant for copies of memory invisible to the host: every buffer knows the buffer's device. */
    private static VmCall afterDevice(VmCall call) {
        call.required(Device.class);
        return call;
    }

    private void expectAllTrue(VmCall call) {
        BufferView view = call.required(BufferView.class);
        try (HostBytes bytes = HostBytes.of(view)) {
            String failure = null;
            for (long i = 0; i < view.shape().elementCount() && failure == null; i++) {
                if (isZero(view.elementType(), bytes.segment(), i)) {
                    failure = "expected no element to be 0, element %d is: %s".formatted(i, text(view, bytes));
                }
            }
            report("expect_all_true", failure);
        }
    }

    private static boolean isZero(ElementType type, MemorySegment bytes, long index) {
        return type.isFloat()
                ? ElementValues.floatAt(type, bytes, index) == 0
                : ElementValues.integerAt(type, bytes, index) == 0;
    }

    private void expectEq(VmCall call) {
        compare(call, "expect_eq", (lhs, left, rhs, right) -> {
            long mismatch = left.mismatch(right);
            return mismatch < 0 ? null : "contents differ from byte %d on".formatted(mismatch);
        });
    }

    private void expectAlmostEq(VmCall call) {
        compare(
                call,
                "expect_almost_eq",
                (lhs, left, rhs, right) -> farthest(lhs, left, right, call.f32(), call.f32()));
    }

    private void expectAlmostEqAsFixed(VmCall call) {
        compare(call, "expect_almost_eq", (lhs, left, rhs, right) -> {
            boolean coarse = lhs.elementType().equals(ElementType.F16);
            return farthest(lhs, left, right, coarse ? FIXED_TOLERANCE_F16 : FIXED_TOLERANCE, 0);
        });
    }

    /** Describes the element too far from the expected value; null without such an element. */
    private static @Nullable String farthest(
            BufferView view, MemorySegment left, MemorySegment right, double absolute, double relative) {
        ElementType type = view.elementType();
        for (long i = 0; i < view.shape().elementCount(); i++) {
            double actual = ElementValues.floatAt(type, left, i);
            double expected = ElementValues.floatAt(type, right, i);
            if (!isClose(actual, expected, absolute, relative)) {
                return "element %d is %s and differs by %s from %s, more than %s + %s * |%s|"
                        .formatted(i, actual, actual - expected, expected, absolute, relative, expected);
            }
        }
        return null;
    }

    /** As NumPy's {@code isclose}: the relative tolerance applies to the expected value, NaN equals NaN. */
    private static boolean isClose(double actual, double expected, double absolute, double relative) {
        return actual == expected
                || Double.isNaN(actual) && Double.isNaN(expected)
                || Double.isFinite(expected) && Math.abs(actual - expected) <= absolute + relative * Math.abs(expected);
    }

    /** Compares contents of the same shape and type; null when the contents are equal. */
    @FunctionalInterface
    private interface Comparison {
        @Nullable
        String difference(BufferView lhs, MemorySegment left, BufferView rhs, MemorySegment right);
    }

    private void compare(VmCall call, String expectation, Comparison comparison) {
        BufferView lhs = call.required(BufferView.class);
        BufferView rhs = call.required(BufferView.class);
        try (HostBytes left = HostBytes.of(lhs);
                HostBytes right = HostBytes.of(rhs)) {
            String difference;
            if (!lhs.elementType().equals(rhs.elementType())) {
                difference = "element types differ";
            } else if (!lhs.shape().equals(rhs.shape())) {
                difference = "shapes differ";
            } else {
                difference = comparison.difference(lhs, left.segment(), rhs, right.segment());
            }
            report(
                    expectation,
                    difference == null
                            ? null
                            : "%s; lhs: %s; rhs: %s".formatted(difference, text(lhs, left), text(rhs, right)));
        }
    }

    private static String text(BufferView view, HostBytes bytes) {
        return ElementValues.format(view, bytes.segment(), MAX_PRINTED_ELEMENTS);
    }

    private void report(String expectation, @Nullable String failure) {
        listener.checked(expectation, failure);
        if (failure != null && !goesOn) {
            throw IreeException.of(StatusCode.ABORTED, "check.%s: %s".formatted(expectation, failure));
        }
    }
}

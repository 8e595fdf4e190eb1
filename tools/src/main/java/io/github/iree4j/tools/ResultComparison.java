package io.github.iree4j.tools;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.tools.file.ResultPrinter;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compares results with {@code --expected_output=}, and describes differences like {@code iree-run-module}. */
final class ResultComparison {
    private static final int SHOWN_ELEMENTS = 1024;

    /**
     * A tolerance of floating-point elements: {@code |actual - expected| <= absolute + relative * |expected|}; NaN
     * equals NaN.
     *
     * @param exact compare bits instead
     * @param f16 absolute, for f16
     * @param f32 absolute, for f32
     * @param f64 absolute, for f64
     * @param bf16 absolute, for bf16
     * @param relative for all types
     */
    record Tolerance(boolean exact, double f16, double f32, double f64, double bf16, double relative) {
        static final Tolerance DEFAULT = new Tolerance(false, 0.001, 0.0001, 0.0001, 0.01, 1e-5);

        /** The absolute tolerance of a type, or -1 when elements are compared bit by bit. */
        private double absolute(ElementType type) {
            if (exact) {
                return -1;
            }
            return type.equals(ElementType.F32)
                    ? f32
                    : type.equals(ElementType.F64)
                            ? f64
                            : type.equals(ElementType.F16) ? f16 : type.equals(ElementType.BF16) ? bf16 : -1;
        }

        private boolean close(double actual, double expected, double absolute) {
            return actual == expected
                    || (Double.isNaN(actual) && Double.isNaN(expected))
                    || (Double.isFinite(expected)
                            && Math.abs(actual - expected) <= absolute + relative * Math.abs(expected));
        }
    }

    private final Tolerance tolerance;
    private final StringBuilder out;

    ResultComparison(Tolerance tolerance, StringBuilder out) {
        this.tolerance = tolerance;
        this.out = out;
    }

    /** Returns whether all results match; describes the differences. */
    boolean compare(List<Object> expected, List<@Nullable Object> actual) {
        if (expected.size() != actual.size()) {
            out.append(
                    "[FAILED] expected %d list elements but %d provided\n".formatted(expected.size(), actual.size()));
            return false;
        }
        boolean all = true;
        for (int i = 0; i < expected.size(); i++) {
            all &= compareOne(i, expected.get(i), actual.get(i));
        }
        return all;
    }

    private boolean compareOne(int index, Object expected, @Nullable Object actual) {
        if (expected instanceof InputSpecs.NoValue) {
            return true; // (ignored)
        }
        if (expected instanceof Tensor wanted && actual instanceof Tensor got) {
            return compareTensors(index, wanted, got);
        }
        if (expected instanceof Number && actual instanceof Number && expected.getClass() == actual.getClass()) {
            if (expected.equals(actual)) {
                return true;
            }
            out.append("[FAILED] result[%d]: %s values differ\n  expected: %s\n  actual: %s\n"
                    .formatted(index, ResultPrinter.typeName(expected), number(expected), number(actual)));
            return false;
        }
        out.append("[FAILED] result[%d]: variant types mismatch; expected %s but got %s\n"
                .formatted(index, ResultPrinter.typeName(expected), ResultPrinter.typeName(actual)));
        return false;
    }

    private static String number(Object value) {
        return value instanceof Float || value instanceof Double
                ? ResultPrinter.general(((Number) value).doubleValue()).toUpperCase(java.util.Locale.ROOT)
                : value.toString();
    }

    private boolean compareTensors(int index, Tensor expected, Tensor actual) {
        String difference = difference(expected, actual);
        if (difference == null) {
            return true;
        }
        out.append("[FAILED] result[%d]: %s; expected that the view is equal to contents of a view of %s"
                .formatted(index, difference, header(expected)));
        out.append("\n  expected:\n").append(expected.format(SHOWN_ELEMENTS));
        out.append("\n  actual:\n").append(actual.format(SHOWN_ELEMENTS)).append('\n');
        return false;
    }

    private @Nullable String difference(Tensor expected, Tensor actual) {
        if (!expected.shape().equals(actual.shape()) || !sameElement(expected.elementType(), actual.elementType())) {
            return "metadata is %s; expected that the view matches %s".formatted(header(actual), header(expected));
        }
        int mismatch = firstMismatch(expected, actual);
        return mismatch < 0
                ? null
                : "element at index %d (%s) does not match the expected (%s)"
                        .formatted(mismatch, element(actual, mismatch), element(expected, mismatch));
    }

    /** A .npy file says signed where the program is signless: signedness is ignored. */
    private static boolean sameElement(ElementType a, ElementType b) {
        boolean integers = (a.encoding() >>> 28) == 1 && (b.encoding() >>> 28) == 1;
        return a.equals(b) || (integers && (a.encoding() & 0xFF) == (b.encoding() & 0xFF));
    }

    private int firstMismatch(Tensor expected, Tensor actual) {
        double absolute = tolerance.absolute(actual.elementType());
        if (absolute < 0) {
            int mismatch = Arrays.mismatch(expected.rawBytes(), actual.rawBytes());
            int bits = actual.elementType().encoding() & 0xFF;
            return mismatch < 0 ? -1 : (int) (mismatch * 8L / bits);
        }
        double[] wanted = expected.toDoubleArray();
        double[] got = actual.toDoubleArray();
        for (int i = 0; i < wanted.length; i++) {
            if (!tolerance.close(got[i], wanted[i], absolute)) {
                return i;
            }
        }
        return -1;
    }

    private static String element(Tensor tensor, int index) {
        int bits = tensor.elementType().encoding() & 0xFF;
        int size = (bits + 7) / 8;
        byte[] all = tensor.rawBytes();
        int start = (int) ((long) index * bits / 8);
        byte[] one = Arrays.copyOfRange(all, start, start + size);
        try (Tensor scalar = Tensor.copyOf(MemorySegment.ofArray(one), tensor.elementType())) {
            String text = scalar.format(1);
            return text.substring(text.indexOf('=') + 1);
        }
    }

    private static String header(Tensor tensor) {
        String text = tensor.format(0);
        return text.substring(0, text.indexOf('='));
    }
}

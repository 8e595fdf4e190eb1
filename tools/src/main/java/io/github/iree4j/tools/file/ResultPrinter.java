package io.github.iree4j.tools.file;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.vm.VmBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes results in the format of {@code iree-run-module}. */
public final class ResultPrinter {
    private final int maximumElements;

    /**
     * Creates a printer.
     *
     * @param maximumElements the most elements of a tensor to write
     */
    public ResultPrinter(int maximumElements) {
        this.maximumElements = maximumElements;
    }

    /** Returns a line {@code result[0]: hal.buffer_view}, then the elements. */
    public String print(String name, List<?> values) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < values.size(); i++) {
            out.append(name)
                    .append('[')
                    .append(i)
                    .append("]: ")
                    .append(format(values.get(i)))
                    .append('\n');
        }
        return out.toString();
    }

    /** Returns a value as text: type and value, of a tensor the elements on lines below. */
    public String format(@Nullable Object value) {
        return switch (value) {
            case null -> "(null)";
            case Float v -> "f32=" + general(v);
            case Double v -> "f64=" + general(v);
            case Number v -> typeName(v) + "=" + v;
            case Tensor v -> typeName(v) + "\n" + v.format(maximumElements);
            case List<?> v -> typeName(v) + "\n" + print("child_list", v);
            default -> typeName(value) + "\n(no printer)";
        };
    }

    /** Returns a number as C's {@code %g} writes the number. */
    public static String general(double value) {
        try (Tensor scalar = Tensor.scalar(value)) {
            String text = scalar.format(1);
            return text.substring(text.indexOf('=') + 1).toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** Returns the name of a value's type, as {@code iree-run-module} writes the name. */
    public static String typeName(@Nullable Object value) {
        return switch (value) {
            case null -> "empty";
            case Integer _ -> "i32";
            case Long _ -> "i64";
            case Float _ -> "f32";
            case Double _ -> "f64";
            case Tensor _ -> "hal.buffer_view";
            case Buffer _ -> "hal.buffer";
            case VmBuffer _ -> "vm.buffer";
            case List<?> _ -> "vm.list";
            default -> value.getClass().getSimpleName();
        };
    }
}

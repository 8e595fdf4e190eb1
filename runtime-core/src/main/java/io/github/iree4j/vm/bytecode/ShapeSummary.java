package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.bytecode.ShapeValue.Argument;
import io.github.iree4j.vm.bytecode.ShapeValue.Constant;
import io.github.iree4j.vm.bytecode.ShapeValue.Dimension;
import io.github.iree4j.vm.bytecode.ShapeValue.View;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The facts common to all returns of a function, in terms of the arguments. */
final class ShapeSummary {
    private final @Nullable View[] checked; // per argument
    private final @Nullable ShapeValue[] results;

    ShapeSummary(@Nullable View[] checked, @Nullable ShapeValue[] results) {
        this.checked = checked;
        this.results = results;
    }

    /** Returns the facts also common to another return. */
    ShapeSummary or(ShapeSummary other) {
        @Nullable View[] views = new View[checked.length];
        for (int i = 0; i < views.length; i++) {
            views[i] = ShapeValue.either(checked[i], other.checked[i]) instanceof View view ? view : null;
        }
        @Nullable ShapeValue[] values = new ShapeValue[results.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = ShapeValue.either(results[i], other.results[i]);
        }
        return new ShapeSummary(views, values);
    }

    /** Returns the work caused by applying this summary at a call. */
    int cost() {
        int cost = checked.length + results.length;
        for (View each : checked) {
            cost += each == null ? 0 : each.rank();
        }
        for (ShapeValue each : results) {
            cost += each instanceof View view ? view.rank() : 0;
        }
        return cost;
    }

    /**
     * Applies the summary to a call.
     *
     * @param operands the known values of the operands
     * @param check receives an operand, and the view satisfied by the operand from here on
     * @param into receives the known values of the results
     */
    void applyTo(
            @Nullable ShapeValue[] operands,
            BiConsumer<@Nullable ShapeValue, @Nullable View> check,
            @Nullable ShapeValue[] into) {
        for (int i = 0; i < checked.length; i++) {
            check.accept(operands[i], called(checked[i], operands) instanceof View view ? view : null);
        }
        for (int i = 0; i < results.length; i++) {
            into[i] = called(results[i], operands);
        }
    }

    /** Returns a value in terms of the caller's values. */
    private static @Nullable ShapeValue called(@Nullable ShapeValue value, @Nullable ShapeValue[] operands) {
        return switch (value) {
            case null -> null;
            case Constant constant -> constant;
            case Argument argument -> operands[argument.index()];
            case Dimension dimension ->
                ShapeFlow.dimension(operands[dimension.argument()], new Constant(dimension.index(), false));
            case View view -> {
                @Nullable ShapeValue[] dimensions = new ShapeValue[view.rank()];
                for (int i = 0; i < dimensions.length; i++) {
                    dimensions[i] = called(view.dimension(i), operands);
                }
                yield new View(view.elementType, dimensions);
            }
        };
    }

    /** Returns the shapes proven to callers. */
    ProvenShapes proven() {
        @Nullable ProvenShape[] arguments = new ProvenShape[checked.length];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = shape(checked[i]);
        }
        @Nullable ProvenShape[] returned = new ProvenShape[results.length];
        for (int i = 0; i < returned.length; i++) {
            returned[i] = results[i] instanceof Argument same ? arguments[same.index()] : shape(results[i]);
        }
        return new ProvenShapes(arguments, returned);
    }

    private @Nullable ProvenShape shape(@Nullable ShapeValue value) {
        if (!(value instanceof View view)) {
            return null;
        }
        List<Long> dimensions = new ArrayList<>();
        for (int i = 0; i < view.rank(); i++) {
            ShapeValue dimension = view.dimension(i);
            if (dimension instanceof Dimension other) { // perhaps checked to be a constant
                View checkedView = checked[other.argument()];
                dimension = checkedView != null && other.index() < checkedView.rank()
                        ? checkedView.dimension(other.index())
                        : null;
            }
            long size = dimension instanceof Constant constant ? constant.value() : -1;
            if (size < -1) {
                return null; // no such view exists
            }
            dimensions.add(size);
        }
        return new ProvenShape(view.elementType, dimensions);
    }
}

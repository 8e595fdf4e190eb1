package io.github.iree4j.spring.batching;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ValueDeclaration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides which functions can be batched: all arguments and results must be tensors with a common first dimension. */
final class Batchable {
    /** The number of rows of a function whose calls cannot be batched. */
    static final int NONE = -1;

    private static final long NO_ROWS = Long.MIN_VALUE; // of a value that is no tensor, or a scalar

    private Batchable() {}

    /** Returns the number of rows taken by a function; 0 for any number, {@link #NONE} where the calls cannot be batched. */
    static int rows(ProgramFunction function) {
        if (function.arguments().isEmpty() || obstacle(function) != null) {
            return NONE;
        }
        long rows = rows(function.arguments().getFirst());
        return rows < 0 ? 0 : Math.toIntExact(Math.min(rows, Integer.MAX_VALUE));
    }

    /** Returns the reason why calls of a function cannot be batched, naming the value; empty when the calls can be batched. */
    static Optional<String> refusal(ProgramFunction function) {
        if (function.arguments().isEmpty()) {
            return not(function, "it has no arguments");
        }
        ValueDeclaration value = obstacle(function);
        if (value == null) {
            return Optional.empty();
        }
        String name = value.name().isEmpty() ? "a value" : "'" + value.name() + "'";
        String problem = rows(value) == NO_ROWS ? "" : "first dimensions differ: ";
        return not(function, problem + name + " is " + value.type());
    }

    /** Returns the first value without rows, or with other rows than the first argument; null without such a value. */
    private static @Nullable ValueDeclaration obstacle(ProgramFunction function) {
        long rows = rows(function.arguments().getFirst());
        for (List<ValueDeclaration> values : List.of(function.arguments(), function.results())) {
            for (ValueDeclaration value : values) {
                long own = rows(value);
                if (own == NO_ROWS || own != rows) {
                    return value;
                }
            }
        }
        return null;
    }

    private static long rows(ValueDeclaration value) {
        List<Long> shape = value.shape().orElse(List.of());
        return value.isTensor() && !shape.isEmpty() ? shape.getFirst() : NO_ROWS;
    }

    private static Optional<String> not(ProgramFunction function, String why) {
        return Optional.of(
                "calls of '%s' cannot be batched: %s; all arguments and results must be tensors of the same first dimension, such as tensor<?x64xf32>"
                        .formatted(function.fullName(), why));
    }
}

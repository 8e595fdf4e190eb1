package io.github.iree4j.spring.batching;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/** Decides which functions can be batched: all arguments and results must be tensors with a common first dimension. */
final class Batchable {
    private Batchable() {}

    /**
     * Checks a function.
     *
     * @return the number of rows taken by the function; 0 for any number
     * @throws IreeException INVALID_ARGUMENT when the function cannot be batched, naming the value
     */
    static int rows(ProgramFunction function) {
        long rows = -2;
        for (List<ValueDeclaration> values : List.of(function.arguments(), function.results())) {
            for (ValueDeclaration value : values) {
                List<Long> shape = value.shape().orElse(List.of());
                if (!value.isTensor() || shape.isEmpty()) {
                    throw not(function, "%s is %s".formatted(name(value), value.type()));
                }
                if (rows != -2 && rows != shape.getFirst()) {
                    throw not(function, "first dimensions differ: %s is %s".formatted(name(value), value.type()));
                }
                rows = shape.getFirst();
            }
        }
        if (rows == -2) {
            throw not(function, "it has no arguments");
        }
        return rows < 0 ? 0 : Math.toIntExact(Math.min(rows, Integer.MAX_VALUE));
    }

    private static String name(ValueDeclaration value) {
        return value.name().isEmpty() ? "a value" : "'" + value.name() + "'";
    }

    private static IreeException not(ProgramFunction function, String why) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "calls of '%s' cannot be batched: %s; all arguments and results must be tensors of the same first dimension, such as tensor<?x64xf32>"
                        .formatted(function.fullName(), why));
    }
}

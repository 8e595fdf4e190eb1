package io.github.iree4j.spring.batching;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ValueDeclaration;
import java.util.List;
import java.util.Optional;

/** Decides which functions can be batched: all arguments and results must be tensors with a common first dimension. */
final class Batchable {
    private static final long NONE = -2; // no value seen

    private Batchable() {}

    /** Returns the reason why calls of a function cannot be batched, naming the value; empty when the calls can be batched. */
    static Optional<String> refusal(ProgramFunction function) {
        long rows = NONE;
        for (List<ValueDeclaration> values : List.of(function.arguments(), function.results())) {
            for (ValueDeclaration value : values) {
                List<Long> shape = value.shape().orElse(List.of());
                if (!value.isTensor() || shape.isEmpty()) {
                    return not(function, "%s is %s".formatted(name(value), value.type()));
                }
                if (rows != NONE && rows != shape.getFirst()) {
                    return not(function, "first dimensions differ: %s is %s".formatted(name(value), value.type()));
                }
                rows = shape.getFirst();
            }
        }
        return rows == NONE ? not(function, "it has no arguments") : Optional.empty();
    }

    /** Returns the number of rows taken by a function whose calls can be batched; 0 for any number. */
    static int rows(ProgramFunction function) {
        long rows = function.arguments().getFirst().shape().orElseThrow().getFirst();
        return rows < 0 ? 0 : Math.toIntExact(Math.min(rows, Integer.MAX_VALUE));
    }

    private static String name(ValueDeclaration value) {
        return value.name().isEmpty() ? "a value" : "'" + value.name() + "'";
    }

    private static Optional<String> not(ProgramFunction function, String why) {
        return Optional.of(
                "calls of '%s' cannot be batched: %s; all arguments and results must be tensors of the same first dimension, such as tensor<?x64xf32>"
                        .formatted(function.fullName(), why));
    }
}

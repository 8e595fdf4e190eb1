package io.github.iree4j.spring.serving;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Tensor;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Sizes that inputs have in common. Compiled code trusts its inputs: a program for inputs of equal length reads beyond
 * a shorter input, into memory of other requests. Which sizes a program takes for equal, its module does not tell. So a
 * request whose inputs differ in a dimension of the same position is refused, unless the function has rules for shapes,
 * which are checked with the call.
 */
final class SharedSizes {

    private SharedSizes() {}

    /**
     * Checks the sizes of a request.
     *
     * @param served the model
     * @param inputs in the order of the function's arguments
     * @throws IreeException INVALID_ARGUMENT when sizes differ that may have to be equal
     */
    static void check(Served served, List<Tensor> inputs) {
        ProgramFunction function = served.function();
        if (function.variants().isPresent()) {
            return;
        }
        List<ValueDeclaration> arguments = function.arguments();
        Map<Integer, Integer> first = new HashMap<>(); // the first input of variable size, by dimension
        for (int i = 0; i < arguments.size(); i++) {
            boolean isText = served.strings().contains(ValueDeclaration.name(arguments, i, "input"));
            Shape shape = inputs.get(i).shape();
            int last = shape.rank() - (isText ? 1 : 0); // a text has its own length
            for (int dimension = 0; dimension < last; dimension++) {
                if (isVariable(arguments.get(i), dimension)) {
                    Integer before = first.putIfAbsent(dimension, i);
                    if (before != null
                            && inputs.get(before).shape().dimension(dimension) != shape.dimension(dimension)) {
                        throw refusal(served, inputs, before, i, dimension);
                    }
                }
            }
        }
    }

    private static IreeException refusal(Served served, List<Tensor> inputs, int one, int other, int dimension) {
        List<ValueDeclaration> arguments = served.function().arguments();
        return InferenceRequest.invalid(
                "inputs '%s' and '%s' have shapes %s and %s, which differ in dimension %d; the program may take these sizes for equal and read beyond the smaller input; send equal sizes, or let the operator declare the sizes with 'iree.modules.%s.variants.%s.shapes'"
                        .formatted(
                                ValueDeclaration.name(arguments, one, "input"),
                                ValueDeclaration.name(arguments, other, "input"),
                                Arrays.toString(inputs.get(one).shape().dimensions()),
                                Arrays.toString(inputs.get(other).shape().dimensions()),
                                dimension,
                                served.located().program().source().name(),
                                served.function().name()));
    }

    /** Returns whether callers choose the size; so in each dimension of an unknown type. */
    private static boolean isVariable(ValueDeclaration argument, int dimension) {
        return argument.shape()
                .map(shape -> dimension < shape.size() && shape.get(dimension) < 0)
                .orElse(true);
    }
}

package io.github.iree4j.spring.serving;

import io.github.iree4j.Tensor;
import io.github.iree4j.ValueDeclaration;
import java.util.List;

/** Converts primitive arguments, sent by the protocol as tensors of one element. */
final class ScalarArguments {
    private ScalarArguments() {}

    static Object[] of(List<ValueDeclaration> arguments, List<Tensor> tensors) {
        Object[] inputs = tensors.toArray();
        for (int i = 0; i < inputs.length; i++) {
            ValueDeclaration argument = arguments.get(i);
            if (argument.elementType().isPresent() && !argument.isTensor()) {
                inputs[i] = value(argument, tensors.get(i), ValueDeclaration.name(arguments, i, "input"));
            }
        }
        return inputs;
    }

    private static Object value(ValueDeclaration argument, Tensor tensor, String name) {
        long count = tensor.shape().elementCount();
        if (count != 1 || tensor.elementType().isFloat() != argument.type().startsWith("f")) {
            throw InferenceRequest.invalid("input '%s' is a single %s; got %d elements of %s"
                    .formatted(name, argument.type(), count, tensor.elementType()));
        }
        return switch (argument.type()) {
            case "i32" -> tensor.toIntArray()[0];
            case "i64" -> tensor.toLongArray()[0];
            case "f32" -> tensor.toFloatArray()[0];
            default -> tensor.toDoubleArray()[0];
        };
    }
}

package io.github.iree4j.call;

import io.github.iree4j.tensor.TensorElements;
import java.util.function.BooleanSupplier;

/**
 * An argument owned by the program from the call on.
 *
 * @param elements the elements of a tensor
 * @param take closes the tensor on behalf of the call; false when the tensor was closed already
 */
public record Transfer(TensorElements elements, BooleanSupplier take) {}

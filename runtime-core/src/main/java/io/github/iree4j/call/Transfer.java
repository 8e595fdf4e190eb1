package io.github.iree4j.call;

import io.github.iree4j.tensor.TensorElements;
import java.util.function.BooleanSupplier;

/**
 * An argument whose ownership passes to the program with the call.
 *
 * @param elements those of a tensor
 * @param take closes the tensor on behalf of the call; false when it was closed already
 */
public record Transfer(TensorElements elements, BooleanSupplier take) {}

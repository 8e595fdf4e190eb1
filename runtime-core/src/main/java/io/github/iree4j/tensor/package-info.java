/**
 * What tensors are made of: elements in memory of the host or of a device, and their ways from and to Java values, text and streams.
 *
 * <p>Start at {@link io.github.iree4j.tensor.TensorElements}, which {@code Tensor} wraps for callers.
 */
@NullMarked
package io.github.iree4j.tensor;

import org.jspecify.annotations.NullMarked;

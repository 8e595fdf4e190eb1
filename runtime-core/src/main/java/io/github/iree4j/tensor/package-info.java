/**
 * The contents of tensors: elements in host or device memory, and their conversion from and to Java values, text and streams.
 *
 * <p>Start at {@link io.github.iree4j.tensor.TensorElements}, which {@code Tensor} wraps for callers.
 */
@NullMarked
package io.github.iree4j.tensor;

import org.jspecify.annotations.NullMarked;

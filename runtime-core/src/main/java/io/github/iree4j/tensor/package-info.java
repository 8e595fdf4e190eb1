/**
 * The contents of tensors: elements in host or device memory, and the conversion of elements from and to Java values,
 * text and streams.
 *
 * <p>Start at {@link io.github.iree4j.tensor.TensorElements}, wrapped by {@code Tensor} for callers.
 */
@NullMarked
package io.github.iree4j.tensor;

import org.jspecify.annotations.NullMarked;

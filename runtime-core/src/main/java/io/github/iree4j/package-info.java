/**
 * Entry point: find devices, load a program, call it.
 *
 * <p>Start at {@link io.github.iree4j.IreeRuntime}; values are {@link io.github.iree4j.Tensor}s. Every type is safe to
 * share between threads, and to close at any time: current uses finish, later uses fail with FAILED_PRECONDITION.
 */
@NullMarked
package io.github.iree4j;

import org.jspecify.annotations.NullMarked;

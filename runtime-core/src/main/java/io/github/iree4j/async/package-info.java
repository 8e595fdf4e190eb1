/**
 * Waiting: monotonic timelines, and fences over several timelines.
 *
 * <p>Start at {@link io.github.iree4j.async.TimelineSemaphore} and {@link io.github.iree4j.async.Fence}. Everything here
 * is safe from any thread; callbacks run on the thread making them due, see {@link io.github.iree4j.async.Timepoint}.
 * Events of the operating system are in {@code io.github.iree4j.async.io}.
 */
@NullMarked
package io.github.iree4j.async;

import org.jspecify.annotations.NullMarked;

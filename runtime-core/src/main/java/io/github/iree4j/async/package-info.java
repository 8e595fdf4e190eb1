/**
 * Waiting: timelines that only go up, and fences over several of them.
 *
 * <p>Start at {@link io.github.iree4j.async.TimelineSemaphore} and {@link io.github.iree4j.async.Fence}. Everything here is safe
 * from any thread; callbacks run on the thread that made them due, see {@link io.github.iree4j.async.Timepoint}.
 */
@NullMarked
package io.github.iree4j.async;

import org.jspecify.annotations.NullMarked;

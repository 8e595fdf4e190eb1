/**
 * Waiting: monotonic timelines, fences over several timelines, and completions from files, drivers and other processes.
 *
 * <p>Start at {@link io.github.iree4j.async.TimelineSemaphore} and {@link io.github.iree4j.async.Fence}, for external
 * events at {@link io.github.iree4j.async.io.SystemIo} and {@link io.github.iree4j.async.io.Proactor}. Everything here is
 * safe from any thread; callbacks run on the thread making them due, see {@link io.github.iree4j.async.Timepoint}.
 */
@NullMarked
package io.github.iree4j.async;

import org.jspecify.annotations.NullMarked;

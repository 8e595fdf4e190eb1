/**
 * Events of the operating system: files, events of other processes, and the thread that waits for both.
 *
 * <p>Start at {@link io.github.iree4j.async.io.SystemIo} for files, at {@link io.github.iree4j.async.io.ExternalTimepoints}
 * for events, and at {@link io.github.iree4j.async.io.Proactor} for a driver's completions. Methods are safe from any
 * thread; a {@link io.github.iree4j.async.io.Completion} is called by the proactor's owner.
 */
@NullMarked
package io.github.iree4j.async.io;

import org.jspecify.annotations.NullMarked;

/**
 * Devices that have no memory in common, as seen by a program for several devices: memory of one that another uses is copied, in queue order.
 *
 * <p>Start at {@link io.github.iree4j.hal.copying.CopyingDevice}. Safe from any thread, except for command buffers during recording.
 */
@NullMarked
package io.github.iree4j.hal.copying;

import org.jspecify.annotations.NullMarked;

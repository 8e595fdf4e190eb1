/**
 * Devices without common memory, as seen by a program for several devices: memory of a device is copied for use by
 * another, in queue order.
 *
 * <p>Start at {@link io.github.iree4j.hal.copying.CopyingDevice}. Safe from any thread, except for command buffers
 * during recording.
 */
@NullMarked
package io.github.iree4j.hal.copying;

import org.jspecify.annotations.NullMarked;

/**
 * Recorded commands, in the one form that all backends read: {@link io.github.iree4j.hal.record.RecordedCommandBuffer} checks and records
 * them as a {@link io.github.iree4j.hal.record.Recording}, and asks a {@link io.github.iree4j.hal.record.RecordingBackend} for what differs
 * from device to device.
 */
@NullMarked
package io.github.iree4j.hal.record;

import org.jspecify.annotations.NullMarked;

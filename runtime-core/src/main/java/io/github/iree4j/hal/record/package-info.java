/**
 * Recorded commands, in the one form that all backends read: {@link io.github.iree4j.hal.record.RecordedCommandBuffer} checks and
 * records them as a {@link io.github.iree4j.hal.record.Recording}, and consults a
 * {@link io.github.iree4j.hal.record.RecordingBackend} for device-specific checks.
 */
@NullMarked
package io.github.iree4j.hal.record;

import org.jspecify.annotations.NullMarked;

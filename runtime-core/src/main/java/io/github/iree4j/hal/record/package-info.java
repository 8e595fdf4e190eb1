/**
 * Recorded commands, in the common form read by all backends: {@link io.github.iree4j.hal.record.RecordedCommandBuffer}
 * checks and records commands as a {@link io.github.iree4j.hal.record.Recording}, and consults a
 * {@link io.github.iree4j.hal.record.RecordingBackend} for device-specific checks.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.hal.record;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

/**
 * The shared part of devices with streams in the hardware: order on the stream, host steps, staging, transfers,
 * allocation, life cycle. A driver implements {@link io.github.iree4j.hal.stream.StreamDriver}, and passes the
 * implementation to {@link io.github.iree4j.hal.stream.StreamDevice}.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.hal.stream;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

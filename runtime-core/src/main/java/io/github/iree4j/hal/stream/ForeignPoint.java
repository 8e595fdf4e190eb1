package io.github.iree4j.hal.stream;

/**
 * A value of a native timeline that submissions can wait for.
 *
 * @param device the device whose submissions can wait for it
 * @param timeline the timeline
 * @param value the value
 */
record ForeignPoint(StreamDevice device, DriverTimeline timeline, long value) {}

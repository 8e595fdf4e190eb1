package io.github.iree4j.flight;

/**
 * A queue that a recording is of.
 *
 * @param axis its axis
 * @param device the id of its device
 * @param index of the queue on its device
 * @param stream whether it runs operations in the order of their epochs
 * @param memoryLimit bytes that the device's buffers may take
 */
public record RecordedQueue(long axis, String device, int index, boolean stream, long memoryLimit) {}

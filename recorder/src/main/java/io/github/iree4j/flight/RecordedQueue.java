package io.github.iree4j.flight;

/**
 * A recorded queue.
 *
 * @param axis its axis
 * @param device the id of its device
 * @param index of the queue on its device
 * @param stream whether the queue runs operations in the order of their epochs
 * @param memoryLimit the most bytes of the device's buffers
 */
public record RecordedQueue(long axis, String device, int index, boolean stream, long memoryLimit) {}

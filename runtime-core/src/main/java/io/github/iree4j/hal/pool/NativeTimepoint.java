package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;

/**
 * A mark on a queue that another queue's hardware can wait for.
 *
 * @param queue the queue that has the mark, for the backend that offered it; opaque here
 * @param axis the axis of the queue that has the mark
 * @param epoch the operation that it follows
 * @param frontier what has finished once the mark is passed: at least everything up to that operation
 */
public record NativeTimepoint(Object queue, long axis, long epoch, Frontier frontier) {}

package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;

/**
 * A mark on a queue that another queue's hardware can wait for.
 *
 * @param queue the queue that has the mark, for whoever offered it; opaque here
 * @param axis the axis of the queue that has the mark
 * @param epoch the operation behind which it is
 * @param frontier what is over once it is passed, at least everything up to that operation
 */
public record NativeTimepoint(Object queue, long axis, long epoch, Frontier frontier) {}

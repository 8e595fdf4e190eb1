package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Frontier;

/**
 * A mark on a queue that another queue's hardware can wait for.
 *
 * @param queue the queue of the mark, for the backend offering the mark; opaque here
 * @param axis the axis of the queue
 * @param epoch the epoch of the operation before the mark
 * @param frontier the work finished once the mark is passed: at least everything up to the operation before the mark
 */
@NotForApplications
public record NativeTimepoint(Object queue, long axis, long epoch, Frontier frontier) {}

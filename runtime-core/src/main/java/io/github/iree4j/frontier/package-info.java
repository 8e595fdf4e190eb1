/**
 * Causal knowledge as values: which point of which timeline happens before this one.
 *
 * <p>An {@link io.github.iree4j.frontier.Axis} names a timeline, an epoch a position on it. A {@link
 * io.github.iree4j.frontier.Frontier} is a small sorted set of both, a sparse vector clock: the immutable snapshot that travels with
 * signals and freed memory. {@link io.github.iree4j.frontier.MutableFrontier} and {@link
 * io.github.iree4j.frontier.FrontierAccumulator} are what operations and queues gather theirs in. Start at {@code Frontier}.
 *
 * <p>Snapshots are values and safe from any thread; what gathers them is confined to one thread or lock. Nothing here waits, and
 * nothing here knows devices: what has completed is asked of {@link io.github.iree4j.frontier.CompletedEpochs}.
 */
@NullMarked
package io.github.iree4j.frontier;

import org.jspecify.annotations.NullMarked;

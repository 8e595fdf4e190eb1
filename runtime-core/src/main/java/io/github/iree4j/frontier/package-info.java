/**
 * Causal order as values: the points of timelines that happen before a point.
 *
 * <p>An {@link io.github.iree4j.frontier.Axis} names a timeline, an epoch a position on the timeline. A
 * {@link io.github.iree4j.frontier.Frontier} is a small sorted set of such pairs, a sparse vector clock: the immutable
 * snapshot that accompanies signals and freed memory. {@link io.github.iree4j.frontier.MutableFrontier} and
 * {@link io.github.iree4j.frontier.FrontierAccumulator} build the frontiers of operations and queues. Start at
 * {@code Frontier}.
 *
 * <p>Snapshots are values and safe from any thread; builders are confined to a single thread or lock. Nothing here
 * waits or depends on devices: completion is queried from {@link io.github.iree4j.frontier.CompletedEpochs}.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.frontier;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

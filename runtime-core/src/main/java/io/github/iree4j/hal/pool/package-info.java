/**
 * Device memory, allocated in the order of the device's queues.
 *
 * <p>A {@link io.github.iree4j.hal.pool.PoolSet} takes slabs from a {@link io.github.iree4j.hal.pool.SlabProvider} and
 * hands out parts of the slabs as {@link io.github.iree4j.hal.pool.Reservation}s, from the pool that fits the request.
 * The releaser states the work that must have finished before reuse, the <em>death frontier</em>; the requester states
 * its own frontier. Where the requester's frontier is proved to imply the death frontier, memory passes from releaser
 * to requester without the host waiting. A request that does not fit now waits in line; a request that can never fit
 * fails.
 *
 * <p>Safe from any thread. Each set has one lock; no foreign code runs under the lock.
 */
@NullMarked
package io.github.iree4j.hal.pool;

import org.jspecify.annotations.NullMarked;

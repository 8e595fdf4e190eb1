/**
 * Device memory, allocated in the order of the device's queues.
 *
 * <p>A {@link io.github.iree4j.hal.pool.PoolSet} takes slabs from a {@link io.github.iree4j.hal.pool.SlabProvider} and hands out parts of
 * them as {@link io.github.iree4j.hal.pool.Reservation}s, from the pool that fits the request. The releaser states what must have finished
 * before the bytes may be reused, the <em>death frontier</em>; the requester states what it runs after. Where one is proved to imply the
 * other, memory passes between them without the host waiting. A request that does not fit now waits in line; a request that can never fit
 * fails.
 *
 * <p>Safe from any thread. Each set has one lock; no foreign code runs under it.
 */
@NullMarked
package io.github.iree4j.hal.pool;

import org.jspecify.annotations.NullMarked;

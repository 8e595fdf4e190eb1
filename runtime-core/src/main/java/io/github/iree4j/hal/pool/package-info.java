/**
 * Memory of a device, given out in the order of its queues.
 *
 * <p>A {@link io.github.iree4j.hal.pool.PoolSet} takes slabs from a {@link io.github.iree4j.hal.pool.SlabProvider} and gives out parts
 * of them as {@link io.github.iree4j.hal.pool.Reservation}s, from the pool that fits the request. Whoever gives a reservation back says
 * what must be over before its bytes may be used again, the <em>death frontier</em>; whoever asks says what it runs after. Memory goes
 * from one to the other without the host waiting whenever that is proved. What does not fit now waits in line; what can never fit fails.
 *
 * <p>Safe from any thread. One lock per set; nothing of others runs under it.
 */
@NullMarked
package io.github.iree4j.hal.pool;

import org.jspecify.annotations.NullMarked;

/**
 * The identity of a node: a machine index and a session that together name its axes, leased from a store that never gives the same pair
 * twice.
 *
 * <p>{@link io.github.iree4j.cluster.identity.IdentityStore} grants leases; {@link io.github.iree4j.cluster.identity.LeaseKeeper} renews
 * one, and fences the node before the lease ends when that fails.
 */
@NullMarked
package io.github.iree4j.cluster.identity;

import org.jspecify.annotations.NullMarked;

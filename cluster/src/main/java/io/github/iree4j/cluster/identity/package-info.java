/**
 * The identity of a node: a machine index and a session, together naming the node's axes, leased from a store that
 * never grants the same pair twice.
 *
 * <p>{@link io.github.iree4j.cluster.identity.IdentityStore} grants leases;
 * {@link io.github.iree4j.cluster.identity.LeaseKeeper} renews a lease, and fences the node before the lease ends when
 * renewals fail.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.cluster.identity;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

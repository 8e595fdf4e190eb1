/**
 * A node of a cluster: its identity, the nodes it sees, and its sessions with them.
 *
 * <p>{@link io.github.iree4j.cluster.ClusterNode} connects the parts: membership says who is there, the transport connects, and the runtime's
 * {@link io.github.iree4j.hal.remote.RemoteNode} does the rest.
 */
@NullMarked
package io.github.iree4j.cluster;

import org.jspecify.annotations.NullMarked;

/**
 * A node of a cluster: its identity, the visible nodes, and the sessions with visible nodes.
 *
 * <p>{@link io.github.iree4j.cluster.ClusterNode} connects the parts: the membership reports the present nodes, the
 * transport connects, and the runtime's {@link io.github.iree4j.hal.remote.RemoteNode} does the rest.
 */
@NullMarked
package io.github.iree4j.cluster;

import org.jspecify.annotations.NullMarked;

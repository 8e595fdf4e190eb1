/**
 * Devices of other machines, independent of the transport: sessions between nodes, semaphores awaited by other nodes,
 * and devices used by other nodes.
 *
 * <p>Start at {@link io.github.iree4j.hal.remote.RemoteNode}. A transport implements {@link
 * io.github.iree4j.hal.remote.PeerConnection} and calls the {@link io.github.iree4j.hal.remote.PeerListener} returned
 * by the node for the connection; the frames are described in {@code docs/cluster-protocol.md}. A process without a
 * node uses nothing of this package: no socket, no thread.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.hal.remote;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

/**
 * Devices of other machines, independent of the transport: sessions between nodes, semaphores of one node that others wait for, and devices of
 * one node that others use.
 *
 * <p>Start at {@link io.github.iree4j.hal.remote.RemoteNode}. A transport implements {@link io.github.iree4j.hal.remote.PeerConnection} and
 * calls the {@link io.github.iree4j.hal.remote.PeerListener} that the node returns for it; the frames are described in {@code
 * docs/cluster-protocol.md}. A process that creates no node uses nothing of this: no socket, no thread.
 */
@NullMarked
package io.github.iree4j.hal.remote;

import org.jspecify.annotations.NullMarked;

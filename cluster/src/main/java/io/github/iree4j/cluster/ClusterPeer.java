package io.github.iree4j.cluster;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * Where a node stands with another one that it sees.
 *
 * @param member the other node
 * @param session the open session; null when there is none
 * @param failure why there is none and never will be, or why the last attempt to connect failed; null when nothing went wrong
 */
public record ClusterPeer(
        ClusterMember member,
        @Nullable RemoteSession session,
        @Nullable IreeException failure) {}

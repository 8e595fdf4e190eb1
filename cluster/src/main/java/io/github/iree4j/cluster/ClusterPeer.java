package io.github.iree4j.cluster;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * The state of a node's connection to another node in the view.
 *
 * @param member the other node
 * @param session the open session; null without a session
 * @param failure the cause of a permanently missing session, or of the last failed attempt to connect; null without a
 *     failure
 */
public record ClusterPeer(
        ClusterMember member,
        @Nullable RemoteSession session,
        @Nullable IreeException failure) {}

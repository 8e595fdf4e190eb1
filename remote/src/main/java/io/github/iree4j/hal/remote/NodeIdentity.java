package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * The identity of a run of a node, leased before the node starts. All axes of the node have its slot, the machine and
 * session, as upper bits; peers know the node by the incarnation.
 *
 * @param clusterId the causal domain, minted once per cluster; only nodes of the same domain talk to each other
 * @param machine the machine within the cluster, 0 to 255
 * @param session the session epoch, 1 to 255; a (machine, session) pair is never leased twice in a cluster
 * @param incarnation a number above 0, never reused in the cluster and rising with the sessions of a machine; of two
 *     nodes, the node with the lower incarnation dials
 */
public record NodeIdentity(long clusterId, int machine, int session, long incarnation) {
    /**
     * Checks the ranges.
     *
     * @throws IreeException INVALID_ARGUMENT when a part is out of range
     */
    public NodeIdentity {
        check("machine", machine, 0, Axis.MAXIMUM_MACHINE);
        check("session", session, 1, Axis.MAXIMUM_SESSION);
        check("incarnation", incarnation, 1, Long.MAX_VALUE);
    }

    private static void check(String part, long value, long minimum, long maximum) {
        if (value < minimum || value > maximum) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s %d of a node's identity is not within [%d, %d]".formatted(part, value, minimum, maximum));
        }
    }

    /**
     * Returns whether an axis belongs to this node.
     *
     * @param axis the axis
     * @return true if machine and session of the axis are this node's
     */
    public boolean owns(long axis) {
        return Axis.machine(axis) == machine && Axis.session(axis) == session;
    }

    /** Describes the node as in messages: {@code node 12 (m3.s1)}. */
    @Override
    public String toString() {
        return "node %d (m%d.s%d)".formatted(incarnation, machine, session);
    }
}

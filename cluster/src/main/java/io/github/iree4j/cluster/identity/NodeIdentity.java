package io.github.iree4j.cluster.identity;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * Who a node is for as long as it holds its lease. No other node ever has the same slot, which is the pair of machine and session, nor the
 * same incarnation.
 *
 * <p>Peers identify a node by its incarnation. The slot is the short form of it that fits into an axis.
 *
 * @param clusterId the causal domain, minted once per cluster; frontiers of different domains do not meet
 * @param machine the machine index, 0 to 255
 * @param session the session epoch of that machine, 1 to 255
 * @param incarnation positive, and larger than that of each earlier holder of the machine index
 */
public record NodeIdentity(long clusterId, int machine, int session, long incarnation) {

    /**
     * Checks the ranges.
     *
     * @throws IreeException INVALID_ARGUMENT when a part is out of range
     */
    public NodeIdentity {
        if (machine < 0 || machine > Axis.MAXIMUM_MACHINE || session < 1 || session > Axis.MAXIMUM_SESSION) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "slot (machine %d, session %d) is not within [0, %d] and [1, %d]"
                            .formatted(machine, session, Axis.MAXIMUM_MACHINE, Axis.MAXIMUM_SESSION));
        }
        if (incarnation < 1) {
            throw new IreeException(StatusCode.INVALID_ARGUMENT, "incarnation " + incarnation + " is not positive");
        }
    }

    /**
     * Creates the allocator of the node's axes.
     *
     * @return a new allocator; a node makes one
     */
    public AxisAllocator axes() {
        return AxisAllocator.create(session, machine);
    }

    /**
     * Formats the identity as {@code mM.sS/incarnation}, with the slot as {@link Axis#toString(long)} has it.
     *
     * @return the text
     */
    @Override
    public String toString() {
        return "m" + machine + ".s" + session + "/" + incarnation;
    }
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Collective;

/**
 * What one participant does in a collective.
 *
 * @param device its device
 * @param communicator its communicator
 * @param lane its lane
 * @param count how many participants there are
 * @param operation the operation; a {@link Collective#SEND_RECV} comes as a send or a receive
 * @param parameter rank of the root or the peer
 * @param elementCount number of elements
 * @param source address of what it sends, for the device; 0 for nothing
 * @param target address where it receives, for the device; 0 for nowhere
 */
public record CollectiveCall(
        StreamDriver device,
        long communicator,
        Lane lane,
        int count,
        Collective operation,
        int parameter,
        long elementCount,
        long source,
        long target) {}

package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Collective;

/**
 * The part of one participant in a collective.
 *
 * @param device the participant's device
 * @param communicator the participant's communicator
 * @param lane the participant's lane
 * @param count number of participants
 * @param operation the operation; a {@link Collective#SEND_RECV} comes as a send or a receive
 * @param parameter rank of the root or the peer
 * @param elementCount number of elements
 * @param source device address of the sent elements; 0 for none
 * @param target device address of the received elements; 0 for none
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

package io.github.iree4j.hal.remote;

/**
 * The state of a queue of a peer's device used by this node.
 *
 * @param axis the lane: the timeline raised by the peer, and named to others; the timeline belongs to this node
 * @param queue the timeline of the {@link io.github.iree4j.hal.DeviceQueue} here, named in frontiers of the queue's
 *     signals
 * @param device id of the device at the peer
 * @param completed the epoch reached by the lane, as far as this node knows
 * @param inFlight commands sent and not completed
 * @param waiting operations waiting here to be sent
 */
public record RemoteLaneStatistics(long axis, long queue, String device, long completed, int inFlight, int waiting) {}

package io.github.iree4j.hal.remote;

/**
 * Where a queue of a device of a peer stands, which this node uses.
 *
 * @param axis its lane: the timeline that the peer raises, and names to others; it belongs to this node
 * @param queue the timeline of the {@link io.github.iree4j.hal.DeviceQueue} here, which frontiers of its signals name
 * @param device id of the device at the peer
 * @param completed the epoch that the lane has reached, as far as this node knows
 * @param inFlight commands that were sent and have not completed
 * @param waiting operations that wait here to be sent
 */
public record RemoteLaneStatistics(long axis, long queue, String device, long completed, int inFlight, int waiting) {}

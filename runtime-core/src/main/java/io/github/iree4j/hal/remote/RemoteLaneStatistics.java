package io.github.iree4j.hal.remote;

/**
 * Where a queue of a device of a peer stands, which this node uses.
 *
 * @param axis its timeline at the peer, which belongs to this node
 * @param device id of the device at the peer
 * @param completed the epoch that it has reached, as far as this node knows
 * @param inFlight commands that were sent and have not completed
 * @param waiting operations that wait here to be sent
 */
public record RemoteLaneStatistics(long axis, String device, long completed, int inFlight, int waiting) {}

package io.github.iree4j.hal.remote;

/**
 * The state of a lane of a peer served by this node.
 *
 * @param axis the timeline of the lane, belonging to the peer
 * @param device id of the device here
 * @param queue index of the queue running the commands
 * @param completed the epoch reached by the lane
 * @param commands number of commands accepted and not ended
 */
public record ServedLaneStatistics(long axis, String device, int queue, long completed, int commands) {}

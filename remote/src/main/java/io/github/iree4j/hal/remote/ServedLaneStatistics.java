package io.github.iree4j.hal.remote;

/**
 * Where a lane of a peer stands, which this node serves.
 *
 * @param axis the lane: its timeline, which belongs to the peer
 * @param device id of the device here
 * @param queue index of its queue that runs the commands
 * @param completed the epoch that the lane has reached
 * @param commands how many were accepted and have not ended
 */
public record ServedLaneStatistics(long axis, String device, int queue, long completed, int commands) {}

package io.github.iree4j.hal.remote;

/**
 * What a session has done so far.
 *
 * @param framesSent frames sent, or waiting to be
 * @param bytesSent their bytes
 * @param framesReceived frames received
 * @param bytesReceived their bytes
 * @param framesDropped frames that were repeated, or came after the end
 * @param bytesWaiting bytes that wait for a stream to have room
 * @param axes axes of the peer that this node knows
 * @param subscriptionsOfPeer semaphores of this node that the peer waits for
 * @param subscriptionsAtPeer semaphores of the peer that this node waits for
 */
public record RemoteSessionStatistics(
        long framesSent,
        long bytesSent,
        long framesReceived,
        long bytesReceived,
        long framesDropped,
        long bytesWaiting,
        int axes,
        int subscriptionsOfPeer,
        int subscriptionsAtPeer) {}

package io.github.iree4j.hal.remote;

/**
 * What one stream of a session has carried so far.
 *
 * @param stream which one
 * @param framesSent frames sent, or waiting to be
 * @param bytesSent their bytes
 * @param framesReceived frames received
 * @param bytesReceived their bytes
 * @param bytesWaiting bytes that wait for room
 */
public record RemoteStreamStatistics(
        PeerStream stream,
        long framesSent,
        long bytesSent,
        long framesReceived,
        long bytesReceived,
        long bytesWaiting) {}

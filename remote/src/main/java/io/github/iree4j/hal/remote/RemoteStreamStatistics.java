package io.github.iree4j.hal.remote;

/**
 * The counters of a stream of a session so far.
 *
 * @param stream the stream
 * @param framesSent frames sent, or waiting to be sent
 * @param bytesSent bytes of the frames sent
 * @param framesReceived frames received
 * @param bytesReceived bytes of the frames received
 * @param bytesWaiting bytes waiting for room
 */
public record RemoteStreamStatistics(
        PeerStream stream,
        long framesSent,
        long bytesSent,
        long framesReceived,
        long bytesReceived,
        long bytesWaiting) {}

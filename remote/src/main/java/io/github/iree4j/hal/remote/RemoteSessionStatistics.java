package io.github.iree4j.hal.remote;

import java.util.List;

/**
 * The counters of a session so far.
 *
 * @param streams the counters of each stream, in the order of {@link PeerStream}
 * @param framesDropped repeated frames, and frames arriving after the end
 * @param axes axes of the peer known to this node
 * @param subscriptionsOfPeer semaphores of this node awaited by the peer
 * @param subscriptionsAtPeer semaphores of the peer awaited by this node
 * @param commandsOfPeer commands of the peer accepted here and not ended
 * @param commandsAtPeer commands of this node sent to the peer and not completed
 * @param roundTripNanos average time until the peer answers; 0 before {@link RemoteSession#measure} had an answer
 */
public record RemoteSessionStatistics(
        List<RemoteStreamStatistics> streams,
        long framesDropped,
        int axes,
        int subscriptionsOfPeer,
        int subscriptionsAtPeer,
        int commandsOfPeer,
        int commandsAtPeer,
        long roundTripNanos) {
    /** Copies the list. */
    public RemoteSessionStatistics {
        streams = List.copyOf(streams);
    }

    /**
     * Returns the number of frames sent on all streams.
     *
     * @return frames sent, or waiting to be sent
     */
    public long framesSent() {
        return streams.stream().mapToLong(RemoteStreamStatistics::framesSent).sum();
    }

    /**
     * Returns the number of bytes sent on all streams.
     *
     * @return the bytes of {@link #framesSent}
     */
    public long bytesSent() {
        return streams.stream().mapToLong(RemoteStreamStatistics::bytesSent).sum();
    }

    /**
     * Returns the number of frames received on all streams.
     *
     * @return frames received
     */
    public long framesReceived() {
        return streams.stream()
                .mapToLong(RemoteStreamStatistics::framesReceived)
                .sum();
    }

    /**
     * Returns the number of bytes received on all streams.
     *
     * @return the bytes of {@link #framesReceived}
     */
    public long bytesReceived() {
        return streams.stream().mapToLong(RemoteStreamStatistics::bytesReceived).sum();
    }

    /**
     * Returns the number of bytes waiting for room on all streams.
     *
     * @return bytes
     */
    public long bytesWaiting() {
        return streams.stream().mapToLong(RemoteStreamStatistics::bytesWaiting).sum();
    }
}

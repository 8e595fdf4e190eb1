package io.github.iree4j.hal.remote;

import java.util.List;

/**
 * What a session has done so far.
 *
 * @param streams what each stream has carried, in the order of {@link PeerStream}
 * @param framesDropped frames that were repeated, or came after the end
 * @param axes axes of the peer that this node knows
 * @param subscriptionsOfPeer semaphores of this node that the peer waits for
 * @param subscriptionsAtPeer semaphores of the peer that this node waits for
 * @param commandsOfPeer commands of the peer that were accepted here and have not ended
 * @param commandsAtPeer commands of this node that were sent there and have not completed
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
     * Returns the frames of all streams that were sent.
     *
     * @return frames sent, or waiting to be
     */
    public long framesSent() {
        return streams.stream().mapToLong(RemoteStreamStatistics::framesSent).sum();
    }

    /**
     * Returns the bytes of all streams that were sent.
     *
     * @return the bytes of {@link #framesSent}
     */
    public long bytesSent() {
        return streams.stream().mapToLong(RemoteStreamStatistics::bytesSent).sum();
    }

    /**
     * Returns the frames of all streams that were received.
     *
     * @return frames received
     */
    public long framesReceived() {
        return streams.stream()
                .mapToLong(RemoteStreamStatistics::framesReceived)
                .sum();
    }

    /**
     * Returns the bytes of all streams that were received.
     *
     * @return the bytes of {@link #framesReceived}
     */
    public long bytesReceived() {
        return streams.stream().mapToLong(RemoteStreamStatistics::bytesReceived).sum();
    }

    /**
     * Returns the bytes of all streams that wait for room.
     *
     * @return bytes
     */
    public long bytesWaiting() {
        return streams.stream().mapToLong(RemoteStreamStatistics::bytesWaiting).sum();
    }
}

package io.github.iree4j.hal.remote;

/** The three ordered streams between two nodes. Frames of a stream arrive in the order sent; there is no order between streams. */
public enum PeerStream {
    /** The handshake, and the end of a session. A few small frames. */
    CONTROL,
    /** Commands, completions and semaphores. Small frames, sensitive to latency. */
    QUEUE,
    /** Bytes of buffers and code, in chunks of up to 256 KiB. */
    BULK
}

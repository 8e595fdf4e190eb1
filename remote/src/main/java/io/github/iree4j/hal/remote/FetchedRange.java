package io.github.iree4j.hal.remote;

/**
 * A range of memory at a node, to be copied by another node on behalf of the client that owns the memory.
 *
 * @param owner incarnation of the client
 * @param holder incarnation of the node with the memory
 * @param handle the client's handle of the allocation
 * @param offset the first byte
 * @param length number of bytes
 * @param grant the client's {@link Grant} for the copying node
 */
@SuppressWarnings("ArrayRecordComponent") // read once, written once
record FetchedRange(long owner, long holder, long handle, long offset, long length, byte[] grant) {
    /** Reads a range of a client's step. */
    static FetchedRange read(FrameReader in, long owner) {
        return new FetchedRange(
                owner,
                in.u64("holder"),
                in.u64("source"),
                in.size("source offset"),
                in.size("length"),
                in.bytes("grant", Grant.BYTES));
    }
}

package io.github.iree4j.hal.remote;

/**
 * A range of memory at a node, to be copied by another node on behalf of the client that owns the memory.
 *
 * @param owner incarnation of the client
 * @param holder incarnation of the node with the memory
 * @param handle the client's handle of the allocation
 * @param offset the first byte
 * @param length number of bytes
 * @param grant the client's {@linkplain GrantKey grant} to the copying node
 */
@SuppressWarnings("ArrayRecordComponent") // read once, written once
record FetchedRange(long owner, long holder, long handle, long offset, long length, byte[] grant) {
    /** Writes the range, without the nodes. */
    void write(FrameWriter frame) {
        frame.u64(handle).u64(offset).u64(length).bytes(grant);
    }

    /** Reads a range of known nodes. */
    static FetchedRange read(FrameReader in, long owner, long holder) {
        return new FetchedRange(
                owner,
                holder,
                in.u64("source"),
                in.size("offset"),
                in.size("length"),
                in.bytes("grant", GrantKey.BYTES));
    }
}

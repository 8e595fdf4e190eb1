package io.github.iree4j.hal.remote;

import java.lang.foreign.MemorySegment;

/** A step of a command: an operation of the server on its device, in order. Ranges are (handle, offset, length). */
sealed interface Step {
    int FILL = 1;
    int COPY = 2;
    int UPLOAD = 3;
    int DOWNLOAD = 4;
    int UPDATE = 5;
    int EXECUTE = 6;
    int CONTENT = 7;
    int FETCH = 8;

    /** Number of bytes of a constant from which on asking costs less than sending. */
    int LEAST_CONTENT = 4 << 10;

    /** Maximum number of bytes of a piece of a constant. */
    int MOST_CONTENT = 1 << 20;

    /** Returns the maximum number of bytes of the step in a frame. */
    default long frameBytes() {
        return switch (this) {
            case Fill _ -> 34;
            case Copy _ -> 41;
            case Upload upload -> upload.constant ? 65 : 33;
            case Download _ -> 33;
            case Fetch _ -> 81;
            case Execute execute -> 15L + execute.inline.length + Long.BYTES * (long) execute.bindings.length;
        };
    }

    /** Names a kind in traces. */
    static String name(int kind) {
        return switch (kind) {
            case FILL -> "fill";
            case COPY, FETCH -> "copy";
            case UPLOAD, CONTENT -> "upload";
            case DOWNLOAD -> "download";
            case UPDATE -> "update";
            default -> "execute";
        };
    }

    /** Fills a range. */
    record Fill(long handle, long offset, long length, long pattern, int width) implements Step {}

    /** Copies between ranges. */
    record Copy(long source, long sourceOffset, long target, long targetOffset, long length) implements Step {}

    /**
     * Writes bytes of the client to a range.
     *
     * @param constant whether the peer may have the bytes under the same digest
     */
    record Upload(MemorySegment bytes, long target, long offset, boolean constant) implements Step {}

    /**
     * Copies from a range at another node, directly between the two nodes.
     *
     * @param range the range, granted to the node of the device
     */
    record Fetch(FetchedRange range, long target, long offset) implements Step {}

    /** Writes a range to bytes of the client. */
    record Download(long source, long offset, MemorySegment bytes) implements Step {}

    /**
     * Runs recorded commands.
     *
     * @param recording the handle; 0 when the commands are in the frame
     * @param inline the commands, for 0
     * @param bindings handle, offset and length of each slot
     */
    @SuppressWarnings("ArrayRecordComponent") // written once
    record Execute(long recording, byte[] inline, long[] bindings) implements Step {}
}

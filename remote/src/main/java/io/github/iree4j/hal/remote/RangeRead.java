package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Passes a part of a range at this node to a reader, once: at {@link #run}, or later, once the owner's allocation has
 * come. Safe from any thread.
 */
final class RangeRead implements Runnable {
    /** Takes a part of a range. */
    interface Reader {
        /**
         * Takes the bytes.
         *
         * @param memory retained; the reader releases the memory after the last use of the bytes
         */
        void read(ServerObject memory, MemorySegment bytes);

        /** Takes the reason against reading. */
        void refused(IreeException cause);
    }

    private final RemoteNode node;
    private final FetchedRange range;
    private final long asking;
    private final long from;
    private final long length;
    private final Reader reader;
    private final AtomicBoolean over = new AtomicBoolean(); // whether the reader is called, or will not be

    /**
     * Creates a read of a part of a range.
     *
     * @param asking the incarnation of the node that copies
     * @param from the first byte of the part within the range
     */
    RangeRead(RemoteNode node, FetchedRange range, long asking, long from, long length, Reader reader) {
        this.node = node;
        this.range = range;
        this.asking = asking;
        this.from = from;
        this.length = length;
        this.reader = reader;
    }

    /** Reads, or waits for the allocation. */
    @Override
    public void run() {
        ServerObject memory = null;
        MemorySegment bytes;
        try {
            ServerObjects objects = node.session(range.owner()).server().objects();
            if (!objects.isKnownOrThen(range.handle(), this)) {
                if (over.get()) { // ended before the wait was registered
                    objects.forget(range.handle(), this);
                }
                return;
            }
            memory = objects.find(range.handle());
            bytes = part(memory);
        } catch (IreeException e) {
            if (memory != null) {
                memory.release();
            }
            end(e);
            return;
        }
        if (over.compareAndSet(false, true)) {
            reader.read(memory, bytes);
        } else {
            memory.release();
        }
    }

    /** Ends the read, and the wait for the allocation, unless the reader has the bytes or the reason against them. */
    void end(IreeException cause) {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        try {
            node.session(range.owner()).server().objects().forget(range.handle(), this);
        } catch (IreeException e) {
            // The waits have ended with the session.
        }
        reader.refused(cause);
    }

    private MemorySegment part(ServerObject memory) {
        GrantKey key = memory.key();
        if (key == null || !key.allows(range, asking)) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "node %d has not granted node %d the %d bytes at %d of memory %d"
                            .formatted(range.owner(), asking, range.length(), range.offset(), range.handle()));
        }
        Buffer buffer = memory.buffer();
        if (from > range.length() || length > range.length() - from) {
            throw outside(length, from, "range", range.length());
        }
        if (range.length() > buffer.length() || range.offset() > buffer.length() - range.length()) {
            throw outside(range.length(), range.offset(), "memory", buffer.length());
        }
        if (!buffer.isMappable(MemoryAccess.READ)) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "memory %d is not in memory of the host; copy it through the node that owns it"
                            .formatted(range.handle()));
        }
        return buffer.map(MemoryAccess.READ, range.offset() + from, length);
    }

    private static IreeException outside(long length, long offset, String what, long size) {
        return IreeException.of(
                StatusCode.OUT_OF_RANGE, "%d bytes at %d of a %s of %d bytes".formatted(length, offset, what, size));
    }
}

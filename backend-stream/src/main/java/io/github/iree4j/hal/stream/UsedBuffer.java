package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.storage.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import org.jspecify.annotations.Nullable;

/**
 * A buffer as used by work of a device: the device's own buffer, for the device or for the host, or a buffer allocated
 * by another device in host memory.
 */
sealed interface UsedBuffer extends RefCounted permits StreamBuffer, StreamBuffer.HostUse, ForeignBuffer {
    /** Returns the buffer's length, bytes. */
    long length();

    /**
     * Keeps the storage for an operation being issued, until {@link #unpin}, even if the buffer is deallocated or
     * closed meanwhile.
     *
     * @param user the operation, with a known frontier
     * @return the storage
     * @throws io.github.iree4j.status.IreeException FAILED_PRECONDITION unless the operation runs after the allocation
     *     and before the deallocation; the failure of the allocation; the obstacle to using memory of another device
     */
    StreamStorage pin(StreamOperation user);

    /**
     * Keeps the storage for a collective, until {@link #unpin}.
     *
     * @param before the frontier of everything before the collective
     * @param call the collective's call; null for none
     */
    StreamStorage pin(Frontier before, @Nullable MemoryHolder call);

    /** Ends a pin, given the pinned storage. */
    void unpin(StreamStorage pinned);

    /** Returns the storage as a user sees it; see {@link StreamBuffer#seenBy}. */
    StreamStorage seenBy(StreamStorage storage, @Nullable Object user);

    /**
     * Returns the views of a constant for calls writing into the constant; null where calls use the constant's storage.
     */
    @Nullable
    ConstantViews<ConstantCopy> copies();

    /** Checks that shaders may write to the buffer; called before writes. */
    void checkWritable();
}

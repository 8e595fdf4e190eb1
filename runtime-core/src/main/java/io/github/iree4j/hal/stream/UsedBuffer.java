package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import org.jspecify.annotations.Nullable;

/** A buffer as work of a device uses it: the device's own, for itself or for the host, or one that another device allocated in host memory. */
sealed interface UsedBuffer extends RefCounted permits StreamBuffer, StreamBuffer.HostUse, GuestBuffer {
    /** Returns its length, bytes. */
    long length();

    /**
     * Keeps the storage for an operation that is being issued, until {@link #unpin}, even if the buffer is deallocated or closed meanwhile.
     *
     * @param user the operation, which has its frontier
     * @return the storage
     * @throws io.github.iree4j.status.IreeException FAILED_PRECONDITION unless the operation runs after the allocation and before the
     *     deallocation; the failure of the allocation; the obstacle to using memory of another device
     */
    StreamStorage pin(StreamOperation user);

    /**
     * The same for a collective.
     *
     * @param before what happens before it
     * @param call the call that it belongs to; null for none
     */
    StreamStorage pin(Frontier before, @Nullable MemoryHolder call);

    /** Ends a pin, given the storage that it returned. */
    void unpin(StreamStorage pinned);

    /** Returns the storage as a user sees it; see {@link StreamBuffer#seenBy}. */
    StreamStorage seenBy(StreamStorage storage, @Nullable Object user);

    /** Returns the views of a constant for calls that write into it; null where they use its storage. */
    @Nullable
    ConstantViews<ConstantCopy> copies();

    /** Checks that shaders may write to it; called before they do. */
    void checkWritable();
}

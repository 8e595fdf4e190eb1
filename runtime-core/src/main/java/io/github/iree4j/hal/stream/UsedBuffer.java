package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.schedule.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import org.jspecify.annotations.Nullable;

/** A buffer as work of a device uses it: the device's own, or one that another device allocated in memory of the host. */
sealed interface UsedBuffer extends RefCounted permits StreamBuffer, GuestBuffer {
    /** Returns how many bytes it has. */
    long length();

    /**
     * Keeps the storage for an operation that is being issued, until {@link #unpin}, whoever deallocates or closes the buffer meanwhile.
     *
     * @param user the operation, which has its frontier
     * @return the storage
     * @throws io.github.iree4j.status.IreeException FAILED_PRECONDITION unless the operation runs after the allocation and before the
     *     deallocation; why the allocation failed; what keeps the device from using memory of another
     */
    StreamStorage pin(StreamOperation user);

    /** Ends a pin, with what it returned. */
    void unpin(StreamStorage pinned);

    /** Returns what a user sees who has the storage; see {@link StreamBuffer#seenBy}. */
    StreamStorage seenBy(StreamStorage storage, @Nullable Object user);

    /** What calls see of it that write into it although it is a constant; null where they see its storage. */
    @Nullable
    ConstantViews<ConstantCopy> copies();

    /** Says that shaders may store something there, before they do. */
    void checkWritable();
}

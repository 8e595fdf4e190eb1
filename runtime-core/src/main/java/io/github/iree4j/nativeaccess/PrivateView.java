package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * A private copy-on-write view of a part of sealed memory: stores are visible only in this view, and unwritten pages are shared. The owner
 * must not use the bytes while the view is restored or closed; otherwise safe from any thread.
 */
public final class PrivateView implements AutoCloseable {
    private final long handle;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes;

    @SuppressWarnings("restricted") // address from the shim, length as requested
    PrivateView(long handle, long length) {
        this.handle = handle;
        this.bytes = MemorySegment.ofAddress(Shim.viewBytes(handle)).reinterpret(length, arena, null);
    }

    /**
     * Returns the bytes.
     *
     * @return the bytes, writable, valid until this is closed
     */
    public MemorySegment bytes() {
        return bytes;
    }

    /**
     * Returns whether the view was written since creation or restoration.
     *
     * @return true for any thread observing the stored bytes
     */
    public boolean isWritten() {
        return Shim.viewIsWritten(handle) != 0;
    }

    /**
     * Restores the sealed contents.
     *
     * @throws IreeException RESOURCE_EXHAUSTED when the system refuses; close the view then
     */
    public void restore() {
        NativeError error = new NativeError();
        int status = Shim.viewRestore(handle, error.address());
        if (status != 0) {
            throw error.toException(status);
        }
        Reference.reachabilityFence(error);
    }

    /** Unmaps the view. Later accesses from Java throw; native code must not access the view any more. */
    @Override
    public void close() {
        arena.close(); // throws during an access: then nothing is freed
        Shim.viewRelease(handle);
    }
}

package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * A part of sealed memory that may be written: stores are seen here and in no other view. What nobody writes is in memory once. Its
 * owner sees to it that nobody uses the bytes while it is restored or closed; else safe from any thread.
 */
public final class PrivateView implements AutoCloseable {
    private final long handle;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes;

    @SuppressWarnings("restricted") // the shim says where the bytes are, and how many there are is what was asked for
    PrivateView(long handle, long length) {
        this.handle = handle;
        this.bytes = MemorySegment.ofAddress(Shim.viewBytes(handle)).reinterpret(length, arena, null);
    }

    /**
     * Returns the bytes.
     *
     * @return writable, valid until this is closed
     */
    public MemorySegment bytes() {
        return bytes;
    }

    /**
     * Returns whether something was stored there since it was made or restored.
     *
     * @return seen by whoever sees what was stored
     */
    public boolean isWritten() {
        return Shim.viewIsWritten(handle) != 0;
    }

    /**
     * Has it read what was sealed again.
     *
     * @throws IreeException RESOURCE_EXHAUSTED when the system refuses; it is to be closed then
     */
    public void restore() {
        NativeError error = new NativeError();
        int status = Shim.viewRestore(handle, error.address());
        if (status != 0) {
            throw error.toException(status);
        }
        Reference.reachabilityFence(error);
    }

    /** Gives the mapping back. Whoever reads it from Java afterwards fails; nobody else may. */
    @Override
    public void close() {
        arena.close(); // fails while somebody reads: then nothing is freed
        Shim.viewRelease(handle);
    }
}

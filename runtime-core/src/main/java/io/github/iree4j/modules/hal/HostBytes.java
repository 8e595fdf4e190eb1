package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.MemoryAccess;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The bytes of a buffer view for the host to read: in place where the host can map the bytes, else a copy. */
public final class HostBytes implements AutoCloseable {
    /** An alignment sufficient for elements of any type. */
    private static final long ALIGNMENT = 64;

    private final Buffer buffer;
    private final MemorySegment bytes;

    private HostBytes(Buffer buffer, MemorySegment bytes) {
        this.buffer = buffer;
        this.bytes = bytes;
    }

    /**
     * Makes the elements of a dense view readable by the host. May block for a copy.
     *
     * @param view the view, with contents ready
     * @return the bytes, to be closed by the caller
     * @throws io.github.iree4j.status.IreeException when the buffer can be neither mapped nor copied
     */
    public static HostBytes of(BufferView view) {
        Buffer buffer = view.buffer();
        buffer.retain();
        try {
            if (buffer.isMappable(MemoryAccess.READ)) {
                return new HostBytes(buffer, buffer.map(MemoryAccess.READ, 0, view.byteLength()));
            }
            MemorySegment copy = Arena.ofAuto().allocate(view.byteLength(), ALIGNMENT);
            buffer.read(0, copy);
            return new HostBytes(buffer, copy);
        } catch (RuntimeException | Error e) {
            buffer.release();
            throw e;
        }
    }

    /**
     * Returns the bytes.
     *
     * @return the bytes of the elements, valid until this is closed
     */
    public MemorySegment segment() {
        return bytes;
    }

    @Override
    public void close() {
        buffer.release();
    }
}

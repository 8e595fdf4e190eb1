package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Native host memory with its own arena. */
@NotForApplications
public final class HostSlab extends Slab {
    private static final int RECENT = 16;
    private static final int PLACE_SHIFT = 6; // of the smallest alignment of blocks

    private final MemorySegment bytes;

    // Pieces used lately, each at an index that follows from its place. Written without order: segments are immutable.
    private final @Nullable MemorySegment[] recent = new @Nullable MemorySegment[RECENT];
    final Arena arena;

    HostSlab(MemorySegment bytes, Arena arena) {
        super(bytes.byteSize(), bytes.address());
        this.bytes = bytes;
        this.arena = arena;
    }

    /**
     * Returns the memory.
     *
     * @return the bytes, borrowed: valid until the slab is released
     */
    public MemorySegment bytes() {
        return bytes;
    }

    /**
     * Returns a piece of the memory. Most calls of a program get the same pieces again, and then the same segments.
     *
     * @param offset the first byte, from 0
     * @param size bytes
     * @return the piece, valid as long as the slab
     */
    public MemorySegment piece(long offset, long size) {
        int index = (int) (offset >>> PLACE_SHIFT) & RECENT - 1;
        MemorySegment piece = recent[index];
        if (piece == null || piece.address() != address() + offset || piece.byteSize() != size) {
            piece = bytes.asSlice(offset, size);
            recent[index] = piece;
        }
        return piece;
    }
}

package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Native host memory with its own arena. */
@NotForApplications
public final class HostSlab extends Slab {
    private final MemorySegment bytes;
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
}

package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** Memory for pools, on huge pages where the system provides huge pages on request (transparent huge pages). Safe from any thread. */
public final class SlabMemory {
    private SlabMemory() {}

    /**
     * Returns the size of the system's pages.
     *
     * @return bytes: 4096 on x86_64, and up to 65,536 on arm64
     * @throws IreeException UNAVAILABLE without the native library
     */
    public static long pageSize() {
        NativeLibrary.ensureAvailable();
        return Shim.pageSize();
    }

    /**
     * Allocates memory between two pages of zeros.
     *
     * @param size bytes, above 0
     * @param alignment a power of two
     * @param arena frees the memory when closed
     * @return the memory, zeroed and committed
     * @throws IreeException RESOURCE_EXHAUSTED without memory; UNAVAILABLE without the native library
     */
    @SuppressWarnings("restricted") // address from the shim, length as requested
    public static MemorySegment allocate(long size, long alignment, Arena arena) {
        NativeLibrary.ensureAvailable();
        NativeError error = new NativeError();
        long slab = Shim.slabCreate(size, alignment, error.address());
        if (slab == 0) {
            throw error.toException();
        }
        Reference.reachabilityFence(error);
        try {
            return MemorySegment.ofAddress(Shim.slabBytes(slab)).reinterpret(size, arena, _ -> Shim.slabRelease(slab));
        } catch (RuntimeException | Error e) {
            Shim.slabRelease(slab);
            throw e;
        }
    }
}

package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** Memory of pools, on large pages where the system gives them to those who ask (transparent huge pages). Safe from any thread. */
public final class SlabMemory {
    private SlabMemory() {}

    /**
     * Allocates memory that lies between two pages of zeros.
     *
     * @param size bytes, above 0
     * @param alignment a power of two
     * @param arena frees it when it is closed
     * @return zeroed, all of it there
     * @throws IreeException RESOURCE_EXHAUSTED without memory; UNAVAILABLE without the native library
     */
    @SuppressWarnings("restricted") // the shim says where the bytes are, and how many there are is what was asked for
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

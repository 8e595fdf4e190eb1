package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * Native memory, filled once and read-only from then on: later stores fault. Page-aligned. Filled and sealed by one
 * thread, then readable by any thread after safe publication.
 */
public final class SealedMemory implements AutoCloseable {
    /** Sealed memories by address. */
    private static final ConcurrentNavigableMap<Long, SealedMemory> SEALED = new ConcurrentSkipListMap<>();

    private final long handle;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes;

    @SuppressWarnings("restricted") // address from the shim
    private SealedMemory(long handle, long size) {
        this.handle = handle;
        this.bytes = MemorySegment.ofAddress(Shim.sealedBytes(handle)).reinterpret(size, arena, null);
    }

    /**
     * Allocates zeroed memory, writable until sealed.
     *
     * @param size bytes, above 0
     * @return the memory; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for a size of 0; RESOURCE_EXHAUSTED without memory or descriptors;
     *     UNAVAILABLE without the native library
     */
    public static SealedMemory create(long size) {
        NativeLibrary.ensureAvailable();
        NativeError error = new NativeError();
        long handle = Shim.sealedCreate(size, error.address());
        if (handle == 0) {
            throw error.toException();
        }
        Reference.reachabilityFence(error);
        return new SealedMemory(handle, size);
    }

    /**
     * Maps a file. The file must not be written or truncated while mapped.
     *
     * @param path a file of at least one byte
     * @return the memory, sealed; the caller closes it
     * @throws IreeException as {@link OpenFile#open}; INVALID_ARGUMENT for an empty file; RESOURCE_EXHAUSTED without
     *     addresses or descriptors
     */
    public static SealedMemory map(String path) {
        NativeLibrary.ensureAvailable();
        try (OpenFile file = OpenFile.open(path, OpenFile.READ)) {
            NativeError error = new NativeError();
            long handle = Shim.sealedMap(file.number(), error.address());
            if (handle == 0) {
                throw error.toException();
            }
            Reference.reachabilityFence(error);
            SealedMemory memory = new SealedMemory(handle, Shim.sealedSize(handle));
            SEALED.put(memory.bytes.address(), memory);
            return memory;
        }
    }

    /**
     * Returns the bytes of sealed memory.
     *
     * @return the bytes, read-only, valid until this is closed
     */
    public MemorySegment bytes() {
        return bytes.asReadOnly();
    }

    /**
     * Returns the bytes, to be filled.
     *
     * @return the bytes, writable until {@link #seal()}; a later store crashes the JVM
     */
    public MemorySegment writable() {
        return bytes;
    }

    /**
     * Makes the memory read-only.
     *
     *
     * @return the bytes, read-only, valid until this is closed
     * @throws IreeException RESOURCE_EXHAUSTED when the system refuses
     */
    public MemorySegment seal() {
        NativeError error = new NativeError();
        int status = Shim.sealedSeal(handle, error.address());
        if (status != 0) {
            throw error.toException(status);
        }
        Reference.reachabilityFence(error);
        SEALED.put(bytes.address(), this);
        return bytes.asReadOnly();
    }

    /**
     * Creates a writable view of a part of sealed memory.
     *
     * @param part a range of open sealed memory
     * @return a view of the same bytes; the caller closes it. Null for an empty part, and for bytes outside sealed
     *     memory
     * @throws IreeException RESOURCE_EXHAUSTED without memory or mappings
     */
    public static @Nullable PrivateView viewOf(MemorySegment part) {
        SealedMemory memory = around(part);
        if (memory == null) {
            return null;
        }
        long offset = part.address() - memory.bytes.address();
        NativeError error = new NativeError();
        long view = Shim.viewCreate(memory.handle, offset, part.byteSize(), error.address());
        if (view == 0) {
            throw error.toException();
        }
        Reference.reachabilityFence(error);
        return new PrivateView(view, part.byteSize());
    }

    /**
     * Returns whether {@link #viewOf} would create a view.
     *
     * @param part any memory
     * @return true for a nonempty range of open sealed memory
     */
    public static boolean contains(MemorySegment part) {
        return around(part) != null;
    }

    private static @Nullable SealedMemory around(MemorySegment part) {
        Map.Entry<Long, SealedMemory> before = part.isNative() ? SEALED.floorEntry(part.address()) : null;
        if (before == null || part.byteSize() == 0) {
            return null;
        }
        SealedMemory memory = before.getValue();
        long offset = part.address() - before.getKey();
        return offset + part.byteSize() > memory.bytes.byteSize() ? null : memory;
    }

    /** Frees the memory. Later accesses from Java throw; native code must not access the memory any more. */
    @Override
    public void close() {
        SEALED.remove(bytes.address(), this);
        arena.close(); // throws during an access: then nothing is freed
        Shim.sealedRelease(handle);
    }
}

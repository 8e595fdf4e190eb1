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
 * Native memory that is filled once and only read from then on: a store into it faults. It begins at a page. Filled and sealed by one
 * thread, read by any once it has been published to them.
 */
public final class SealedMemory implements AutoCloseable {
    /** Those that are sealed, by the address of their first byte. */
    private static final ConcurrentNavigableMap<Long, SealedMemory> SEALED = new ConcurrentSkipListMap<>();

    private final long handle;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes;

    @SuppressWarnings("restricted") // the shim says where the bytes are
    private SealedMemory(long handle, long size) {
        this.handle = handle;
        this.bytes = MemorySegment.ofAddress(Shim.sealedBytes(handle)).reinterpret(size, arena, null);
    }

    /**
     * Allocates zeroed memory that can be written until it is sealed.
     *
     * @param size bytes, above 0
     * @return the memory; the caller closes it
     * @throws IreeException INVALID_ARGUMENT for a size of 0; RESOURCE_EXHAUSTED without memory or descriptors; UNAVAILABLE without the
     *     native library
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
     * Maps a file, which is as sealed as it: it must not be written or cut off as long as it is mapped.
     *
     * @param path a file of at least one byte
     * @return the memory, sealed; the caller closes it
     * @throws IreeException as {@link OpenFile#open}; INVALID_ARGUMENT for an empty file; RESOURCE_EXHAUSTED without addresses or
     *     descriptors
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
     * Returns the bytes of memory that is sealed.
     *
     * @return read-only, valid until this is closed
     */
    public MemorySegment bytes() {
        return bytes.asReadOnly();
    }

    /**
     * Returns the bytes, to be filled.
     *
     * @return writable until {@link #seal()}; a store that comes later kills the virtual machine
     */
    public MemorySegment writable() {
        return bytes;
    }

    /**
     * Ends writing.
     *
     * @return the bytes, read-only, valid until this is closed
     * @throws IreeException RESOURCE_EXHAUSTED when the system cannot
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
     * Makes a part of sealed memory that may be written.
     *
     * @param part bytes of memory that was sealed and is open
     * @return a view of the same bytes; the caller closes it. Null for an empty part, and when the bytes are no sealed memory's
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
     * Returns whether {@link #viewOf} makes a view.
     *
     * @param part any bytes
     * @return true for some of memory that is sealed and open
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

    /** Frees the memory. Whoever reads it from Java afterwards fails; nobody else may. */
    @Override
    public void close() {
        SEALED.remove(bytes.address(), this);
        arena.close(); // fails while somebody reads: then nothing is freed
        Shim.sealedRelease(handle);
    }
}

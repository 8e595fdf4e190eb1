package io.example.threads;

import io.github.iree4j.hal.stream.DriverMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Memory of the process: allocated here, or imported. */
final class ThreadMemory extends DriverMemory {
    private final Handles handles;
    private final long handle;
    private final @Nullable Arena arena; // null for imported memory

    /** The memory of a device, by the handles of storage. */
    static final class Handles {
        private final Map<Long, MemorySegment> segments = new ConcurrentHashMap<>();
        private final AtomicLong last = new AtomicLong();

        long add(MemorySegment bytes) {
            long handle = last.incrementAndGet();
            segments.put(handle, bytes);
            return handle;
        }

        MemorySegment bytes(long handle) {
            return segments.get(handle);
        }
    }

    private ThreadMemory(Handles handles, MemorySegment bytes, boolean seen, @Nullable Arena arena) {
        long added = handles.add(bytes);
        super(added, bytes.address(), seen ? bytes.address() : 0);
        this.handles = handles;
        this.handle = added;
        this.arena = arena;
    }

    /**
     * Allocates.
     *
     * @param seen whether the host sees it
     */
    static ThreadMemory allocate(Handles handles, long size, long alignment, boolean seen) {
        Arena arena = Arena.ofShared();
        try {
            return new ThreadMemory(handles, arena.allocate(size, alignment), seen, arena);
        } catch (RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    /** Memory imported from an owner, who frees the memory later. */
    @SuppressWarnings("restricted")
    static ThreadMemory at(Handles handles, long address, long size) {
        return new ThreadMemory(handles, MemorySegment.ofAddress(address).reinterpret(size), true, null);
    }

    @Override
    public void close() {
        handles.segments.remove(handle);
        if (arena != null) {
            arena.close();
        }
    }
}

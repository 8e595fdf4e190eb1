package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.stream.DriverMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * An allocation of a remote device: memory of the peer, or memory of this process for data moving to and from the peer.
 * Commands running on memory of this process use a mirror at the peer.
 */
final class RemoteMemory extends DriverMemory {
    private final RemoteDriver driver;
    private final long handle;
    private final long size;
    private final @Nullable Arena arena; // null at the peer
    private final @Nullable MemorySegment bytes;
    private final GrantKey key = GrantKey.create(); // known to this node and the peer
    private boolean mirrored; // guarded by this

    private RemoteMemory(
            RemoteDriver driver, long handle, long size, @Nullable Arena arena, @Nullable MemorySegment bytes) {
        super(handle, 0, bytes == null ? 0 : bytes.address());
        this.driver = driver;
        this.handle = handle;
        this.size = size;
        this.arena = arena;
        this.bytes = bytes;
        driver.session().node().memory().put(handle, this);
    }

    /** Memory of the peer. */
    static RemoteMemory far(RemoteDriver driver, long handle, long size) {
        driver.charge(size);
        RemoteMemory memory = new RemoteMemory(driver, handle, size, null, null);
        driver.client().allocate(driver.device(), handle, size, memory.key);
        return memory;
    }

    /** Memory of this process. */
    static RemoteMemory near(RemoteDriver driver, long handle, long size, long alignment) {
        Arena arena = Arena.ofShared();
        try {
            return new RemoteMemory(driver, handle, size, arena, arena.allocate(size, alignment));
        } catch (RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    RemoteDriver driver() {
        return driver;
    }

    /** A range of the memory at the peer, granted to another node. */
    FetchedRange granted(long offset, long length, long receiver) {
        long far = farHandle();
        long owner = driver.session().node().identity().incarnation();
        return new FetchedRange(
                owner, driver.incarnation(), far, offset, length, key.grant(far, offset, length, receiver));
    }

    /** Whether the bytes are in this process. */
    boolean isNear() {
        return bytes != null;
    }

    /** A part of the bytes, in this process. */
    MemorySegment near(long offset, long length) {
        MemorySegment all = bytes;
        if (all == null) {
            throw new IllegalStateException("memory " + handle + " is at the peer");
        }
        return all.asSlice(offset, length);
    }

    /** The handle at the peer: of the memory, or of the mirror. */
    long farHandle() {
        synchronized (this) {
            if (bytes != null && !mirrored) {
                driver.charge(size);
                driver.client().allocate(driver.device(), handle, size, key);
                mirrored = true;
            }
        }
        return handle;
    }

    @Override
    public void close() {
        driver.session().node().memory().remove(handle);
        boolean far;
        synchronized (this) {
            far = bytes == null || mirrored;
        }
        if (far) {
            driver.client().release(handle);
            driver.uncharge(size);
        }
        if (arena != null) {
            arena.close();
        }
    }
}

package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.stream.DriverMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * An allocation of a remote device: memory of the peer, or memory of this process for data moving to and from the peer.
 * Commands running on memory of this process use a mirror at the peer.
 *
 * <p>Memory of the peer may be a constant, or a view of a constant for a call. The peer notices the writes to a view,
 * and reports the first.
 */
final class RemoteMemory extends DriverMemory {
    private final RemoteDriver driver;
    private final long handle;
    private final long size;
    private final @Nullable Arena arena; // null at the peer
    private final @Nullable MemorySegment bytes;
    private final GrantKey key = GrantKey.create(); // known to this node and the peer
    private long charged; // bytes charged to the driver; guarded by this, like the rest
    private boolean known; // whether the peer has an object under the handle
    private long offer; // transfer of the bytes of a constant; 0 for none
    private @Nullable RemoteMemory sealed; // a constant with the bytes of this view
    private volatile boolean written; // whether the peer has reported a write to this view

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
        RemoteMemory memory = atPeer(driver, handle, size, size);
        driver.client().allocate(driver.device(), handle, size, memory.key);
        return memory;
    }

    /**
     * A constant of the peer.
     *
     * @param content the bytes, sent if the peer requests them; readable until the memory is closed
     */
    static RemoteMemory constant(RemoteDriver driver, long handle, MemorySegment content) {
        byte[] digest = RemoteClient.digest(content);
        RemoteMemory memory = atPeer(driver, handle, content.byteSize(), content.byteSize());
        long offer = driver.client().constant(driver.device(), handle, content, digest, memory.key);
        synchronized (memory) {
            memory.offer = offer;
        }
        return memory;
    }

    private static RemoteMemory atPeer(RemoteDriver driver, long handle, long size, long charge) {
        driver.charge(charge);
        RemoteMemory memory = new RemoteMemory(driver, handle, size, null, null);
        synchronized (memory) {
            memory.charged = charge;
            memory.known = true;
        }
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

    @Override
    protected RemoteMemory view(@Nullable DriverMemory base) {
        driver.checkNotLost();
        RemoteMemory of = base == null ? this : ((RemoteMemory) base).sealed();
        RemoteMemory view = atPeer(driver, driver.session().node().handle(), size, 0);
        driver.client().view(view.handle, of.handle, view.key);
        return view;
    }

    /** A constant with the bytes of this view, which no command writes any more. */
    private synchronized RemoteMemory sealed() {
        if (sealed == null) {
            RemoteMemory constant = atPeer(driver, driver.session().node().handle(), size, size);
            driver.client().seal(constant.handle, handle, size, constant.key);
            sealed = constant;
        }
        return sealed;
    }

    @Override
    protected boolean isWritten() {
        return written;
    }

    /** Records that a command has written to this view. */
    void setWritten() {
        written = true;
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
            if (!known) {
                driver.charge(size);
                driver.client().allocate(driver.device(), handle, size, key);
                charged = size;
                known = true;
            }
        }
        return handle;
    }

    @Override
    public void close() {
        driver.session().node().memory().remove(handle);
        RemoteMemory constant;
        synchronized (this) {
            if (offer != 0) {
                driver.session().transfers().withdraw(offer); // the bytes belong to the caller again
            }
            if (known) {
                driver.client().release(handle);
                driver.uncharge(charged);
            }
            constant = sealed;
        }
        if (constant != null) {
            constant.close();
        }
        if (arena != null) {
            arena.close();
        }
    }
}

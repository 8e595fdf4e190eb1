package io.github.iree4j.hal.stream;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.hal.storage.ConstantViews;
import io.github.iree4j.hal.storage.StorageRelease;
import io.github.iree4j.hal.storage.StoredBuffer;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An allocation of device memory.
 *
 * <p>The storage is known once the buffer's alloca is issued. An operation {@linkplain #pin pins} the buffers at issue,
 * and {@linkplain #unpin unpins} the buffers when the hardware is done.
 */
final class StreamBuffer extends StoredBuffer<StreamStorage> implements UsedBuffer {
    /** Fill byte for freed memory, where poisoning is enabled. */
    static final byte POISON = (byte) 0xDB;

    private static final int MAPPED = BufferUsage.MAPPING
            | BufferUsage.MAPPING_PERSISTENT
            | BufferUsage.MAPPING_OPTIONAL
            | BufferUsage.MAPPING_ACCESS_SEQUENTIAL_WRITE;

    private final StreamDevice device;
    private final MemoryKind kind;
    private final @Nullable RefCounted foreign; // owner of memory outside the pools
    private final @Nullable ConstantViews<ConstantCopy> copies; // views of a constant writable by commands
    private volatile @Nullable Farewell farewell; // set once a deallocation is issued

    /** The storage until an issued deallocation is complete: host calls earlier in the stream still see the bytes. */
    private record Farewell(Frontier death, StreamStorage storage) {}

    private StreamBuffer(
            StreamDevice device,
            MemoryKind kind,
            BufferParams params,
            long length,
            @Nullable StreamQueue origin,
            int placement,
            boolean imported,
            @Nullable RefCounted owner,
            @Nullable ConstantViews<ConstantCopy> copies) {
        super(
                kind.halType(),
                usage(params, kind, imported),
                access(params, imported),
                length,
                StreamStorage.NONE,
                origin,
                placement,
                imported,
                owner);
        this.device = device;
        this.kind = kind;
        this.foreign = owner;
        this.copies = copies;
    }

    /** Returns the usage: mappable memory may be mapped; other memory is read and written through transfers, supported by all memory. */
    private static int usage(BufferParams params, MemoryKind kind, boolean imported) {
        int usage = params.usage() == 0 ? BufferUsage.DEFAULT : params.usage();
        int mapping =
                kind.isMappable() ? usage | BufferUsage.MAPPING | BufferUsage.MAPPING_PERSISTENT : usage & ~MAPPED;
        return mapping | (imported ? BufferUsage.TRANSFER_SOURCE : BufferUsage.TRANSFER);
    }

    private static int access(BufferParams params, boolean imported) {
        if (params.access() != 0) {
            return params.access();
        }
        // Allocated immutable memory must still be filled once; imported memory already has its contents.
        boolean constant = imported && (params.usage() & BufferUsage.SHARING_IMMUTABLE) != 0;
        return constant ? MemoryAccess.READ : MemoryAccess.ALL;
    }

    /** Creates an allocation with storage. */
    static StreamBuffer allocated(StreamDevice device, BufferParams params, long length) {
        device.checkAllocates();
        checkParams(params, length, ReservationRequest.MAXIMUM_ALIGNMENT);
        MemoryKind kind = device.memory().kind(params);
        StreamBuffer buffer = new StreamBuffer(device, kind, params, length, null, 0, false, null, null);
        buffer.commitFirst(device.memory().acquire(params, kind, length));
        return buffer;
    }

    /** Creates an allocation with storage from a {@link io.github.iree4j.hal.storage.StorageGrant}. */
    static StreamBuffer reserved(
            StreamDevice device, BufferParams params, long length, StreamQueue origin, int placement) {
        checkParams(params, length, ReservationRequest.MAXIMUM_ALIGNMENT);
        return new StreamBuffer(
                device, device.memory().kind(params), params, length, origin, placement, false, null, null);
    }

    /**
     * Creates a buffer of memory outside the pools.
     *
     * @param owner released with the storage; takes over the caller's reference
     * @param copies views of a constant, kept alive by the owner; null for other memory
     */
    static StreamBuffer foreign(
            StreamDevice device,
            MemoryKind kind,
            BufferParams params,
            StreamStorage storage,
            RefCounted owner,
            @Nullable ConstantViews<ConstantCopy> copies) {
        checkParams(params, storage.length(), ReservationRequest.MAXIMUM_ALIGNMENT);
        StreamBuffer buffer = new StreamBuffer(device, kind, params, storage.length(), null, 0, true, owner, copies);
        buffer.commitFirst(storage);
        return buffer;
    }

    /**
     * Returns the allocation behind a buffer of this device.
     *
     * @param what names the buffer in messages
     * @throws IreeException FAILED_PRECONDITION when the buffer is closed, INVALID_ARGUMENT when the buffer belongs to
     *     another device
     */
    static StreamBuffer of(StreamDevice device, String what, Buffer buffer) {
        if (usable(device, what, buffer) instanceof StreamBuffer own) {
            return own;
        }
        throw notOf(device, what, buffer);
    }

    /**
     * Returns the allocation behind a buffer for work that may also use memory of other devices: an allocation of this
     * device, or in host memory.
     *
     * @param what names the buffer in messages
     * @throws IreeException FAILED_PRECONDITION when the buffer is closed, INVALID_ARGUMENT when the buffer belongs to
     *     another device whose memory cannot be used here, naming the missing capability
     */
    static UsedBuffer usable(StreamDevice device, String what, Buffer buffer) {
        if (!buffer.isLive()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, what + " of " + buffer.length() + " bytes is closed");
        }
        if (buffer.allocatedBuffer() instanceof StreamBuffer own) {
            if (own.device.equals(device) || HostImports.obstacle(device, own.device) == null) {
                return used(device, own);
            }
        } else if (buffer.allocatedBuffer() instanceof StoredBuffer<?> other) {
            String obstacle = HostImports.obstacle(device);
            if (obstacle == null) {
                return used(device, other);
            }
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s of %d bytes was not created by device '%s', which cannot use host memory in place: %s"
                            .formatted(what, buffer.length(), device.id(), obstacle));
        }
        throw notOf(device, what, buffer);
    }

    /** Returns the allocation behind the source of a copy, if the device copies from the allocation's device; else null. */
    static @Nullable StreamBuffer copied(StreamDevice device, Buffer source) {
        return source.isLive()
                        && source.allocatedBuffer() instanceof StreamBuffer other
                        && device.canCopyFrom(other.device)
                ? other
                : null;
    }

    /** Returns the usable form of an allocation accepted by {@link #usable} or {@link #copied}. */
    static UsedBuffer used(StreamDevice device, StoredBuffer<?> accepted) {
        return accepted instanceof StreamBuffer own && own.device.equals(device)
                ? own
                : new ForeignBuffer(device, accepted);
    }

    private static IreeException notOf(StreamDevice device, String what, Buffer buffer) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "%s of %d bytes was not created by device '%s'".formatted(what, buffer.length(), device.id()));
    }

    @Override
    public StreamDevice device() {
        return device;
    }

    /** Returns the owner of memory outside the pools; null for memory of a pool. */
    @Nullable
    RefCounted foreign() {
        return foreign;
    }

    /**
     * Returns the views of a constant for calls writing into the constant; null where calls use the constant's storage.
     */
    @Override
    public @Nullable ConstantViews<ConstantCopy> copies() {
        return copies;
    }

    /**
     * Returns the storage as seen by a user.
     *
     * @param storage the buffer's pinned storage
     * @param user a user of {@link #copies()}; null for none
     * @return the user's copy, if this buffer is a constant written by the user; otherwise the storage
     */
    @Override
    public StreamStorage seenBy(StreamStorage storage, @Nullable Object user) {
        ConstantCopy copy = copies == null ? null : copies.seenBy(user);
        return copy == null ? storage : copy.storage();
    }

    /** Returns whether the owner could free the memory at any time, against the rules; Java detects such a free on access. */
    boolean isMemoryOfUser() {
        return isImported();
    }

    /** Returns the kind of memory. */
    MemoryKind kind() {
        return kind;
    }

    @Override
    public StreamStorage pin(StreamOperation user) {
        checkAllocatedBefore(user.frontier(), user instanceof StorageRelease ? user.name() : "use");
        return pinned();
    }

    @Override
    public StreamStorage pin(Frontier before, @Nullable MemoryHolder call) {
        checkAllocatedBefore(before, "use");
        return pinned();
    }

    /**
     * Refuses a user ordered before the allocation. A user of unknown order may use the memory: the user's program has
     * waited, or harms only data also exposed to uses without waits before the deallocation. Nothing checks for such a
     * use.
     */
    private void checkAllocatedBefore(Frontier user, String what) {
        if (isAllocatedBefore(user) == Known.NO) {
            throw unavailable(what);
        }
    }

    /** Refuses a use before the allocation by a user whose waits have completed, such as the host: the use runs after all completed operations. */
    private void checkAllocated() {
        checkAllocatedBefore(Frontier.EMPTY, "use");
    }

    private StreamStorage pinned() {
        StreamStorage storage = pinStorage();
        try {
            checkNotFreed(storage);
        } catch (IreeException e) {
            unpin();
            throw e;
        }
        return storage;
    }

    private void checkNotFreed(StreamStorage storage) {
        if (isImported()
                && storage.host() instanceof MemorySegment host
                && !host.scope().isAlive()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "memory of imported " + describe() + " has been freed; keep its arena open while the buffer is");
        }
    }

    @Override
    public void unpin(StreamStorage pinned) {
        unpin();
    }

    @Override
    public void checkWritable() {
        // a writable constant is copied; see copies()
    }

    /** Returns whether transfers of a device in the current thread's call write to a copy. */
    static boolean isCopied(StreamDevice device, Buffer target) {
        return target.allocatedBuffer() instanceof StreamBuffer own
                && own.device.equals(device)
                && isCopiedOnWrite(target);
    }

    @Override
    protected boolean isConstant() {
        return copies != null && (usage() & BufferUsage.SHARING_IMMUTABLE) != 0;
    }

    @Override
    protected StreamStorage lent(StreamStorage own, @Nullable MemoryHolder call) {
        checkAllocated();
        checkNotFreed(own);
        return seenBy(own, call);
    }

    /** Pins like {@link #pin}, for a device with code using the storage in place, as seen by the call. */
    StreamStorage lendToPeer(Frontier before, @Nullable MemoryHolder call) {
        return seenBy(pin(before, call), call);
    }

    @Override
    protected boolean isCommittedWhenIssued() {
        return true;
    }

    @Override
    protected Known isAllocatedBefore(Frontier user) {
        Known before = super.isAllocatedBefore(user);
        Frontier allocation = allocation();
        boolean over = before != Known.YES && allocation != null && (isComplete(allocation) || isPassed(allocation));
        return over ? Known.YES : before;
    }

    private boolean isComplete(Frontier allocation) {
        FrontierTracker tracker = device.schedulingDomain().tracker();
        return tracker.completed(allocation.producerAxis()) >= allocation.producerEpoch();
    }

    /**
     * Returns whether the stream has passed the allocation. An operation behind the allocation may run before the
     * scheduler has recorded the completion: host calls, and work behind a completion first reported by another queue.
     */
    private boolean isPassed(Frontier allocation) {
        return origin() instanceof StreamQueue queue && queue.stream().hasReached(allocation.producerEpoch());
    }

    /**
     * Takes the storage away, when the deallocation is issued: later operations get FAILED_PRECONDITION.
     *
     * @param death the deallocation's frontier
     */
    void deallocated(Frontier death) {
        farewell = new Farewell(death, pinStorage());
        unpin();
        releaseAfter(death);
        markGone();
    }

    @Override
    protected @Nullable StreamStorage leaving() {
        Farewell last = farewell;
        // Uses the pool's view: on a lost device nothing completes, and the bytes are reused once nothing is in flight.
        return last != null && !device.schedulingDomain().tracker().isComplete(last.death()) ? last.storage() : null;
    }

    @Override
    protected void wipe(StreamStorage freed) {
        MemorySegment bytes = freed.host();
        if (device.memory().poisons() && bytes != null) {
            bytes.fill(POISON);
        }
    }

    /**
     * Begins a use by the host, after the host's waits. The use precedes an incomplete deallocation, even after the
     * issue of the deallocation.
     *
     * @throws IreeException FAILED_PRECONDITION when there is no storage, or the owner has freed the storage
     */
    HostUse use() {
        checkAllocated();
        StreamStorage own = tryPinStorage();
        StreamStorage last = own == null ? leaving() : null; // BUF-4
        if (own == null && last == null) {
            throw unavailable("use");
        }
        HostUse use = new HostUse(own != null ? own : Objects.requireNonNull(last), own != null);
        try {
            checkNotFreed(use.storage);
            return use;
        } catch (IreeException e) {
            use.close();
            throw e;
        }
    }

    /**
     * The buffer as used by the host, with storage from the start. Confined to the thread waiting for the transfers,
     * except for accesses by the transfers.
     */
    final class HostUse implements UsedBuffer, AutoCloseable {
        private final StreamStorage storage;
        private final boolean pinned; // pinned by this use, and again by each transfer retaining this use

        private HostUse(StreamStorage storage, boolean pinned) {
            this.storage = storage;
            this.pinned = pinned;
        }

        /**
         * Returns whether the use must not end before the transfers: after an issued deallocation, the memory is reused
         * once the use ends.
         */
        boolean outlastsTransfers() {
            return isGone();
        }

        @Override
        public long length() {
            return StreamBuffer.this.length();
        }

        @Override
        public StreamStorage pin(StreamOperation user) {
            return storage;
        }

        @Override
        public StreamStorage pin(Frontier before, @Nullable MemoryHolder call) {
            return storage;
        }

        @Override
        public void unpin(StreamStorage pinned) {
            // release() unpins
        }

        @Override
        public StreamStorage seenBy(StreamStorage storage, @Nullable Object user) {
            return StreamBuffer.this.seenBy(storage, user);
        }

        @Override
        public @Nullable ConstantViews<ConstantCopy> copies() {
            return copies;
        }

        @Override
        public void checkWritable() {
            StreamBuffer.this.checkWritable();
        }

        @Override
        public void retain() {
            StreamBuffer.this.retain();
            if (pinned) {
                pinAgain();
            }
        }

        @Override
        public void release() {
            close();
            StreamBuffer.this.release();
        }

        @Override
        public void close() {
            if (pinned) {
                StreamBuffer.this.unpin();
            }
        }
    }

    @Override
    protected MemorySegment hostBytes(long offset, long length) {
        try (HostUse use = use()) {
            return (copies == null ? use.storage : seenBy(use.storage, MemoryHolder.current()))
                    .mapped()
                    .asSlice(offset, length);
        }
    }

    @Override
    protected void copyToHost(long offset, MemorySegment target) {
        try {
            HostTransfers.read(this, offset, target);
        } catch (IreeException e) {
            throw device.ofTransfer(e);
        }
    }

    @Override
    protected void copyFromHost(long offset, MemorySegment source) {
        try {
            HostTransfers.write(this, offset, source);
        } catch (IreeException e) {
            throw device.ofTransfer(e);
        }
    }

    /** Writes bytes of the host, regardless of the buffer's access flags. */
    void initialize(MemorySegment contents) {
        if (contents.byteSize() == 0) {
            return;
        }
        if (kind.isMappable()) {
            hostBytes(0, contents.byteSize()).copyFrom(contents);
        } else {
            HostTransfers.write(this, 0, contents);
        }
    }
}

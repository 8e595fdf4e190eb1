package io.github.iree4j.hal.stream;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.hal.schedule.ConstantViews;
import io.github.iree4j.hal.schedule.StorageRelease;
import io.github.iree4j.hal.schedule.StoredBuffer;
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
 * <p>Its storage is known once its alloca is issued. An operation {@linkplain #pin pins} its buffers when it is issued, and
 * {@linkplain #unpin unpins} them when the hardware is done with them.
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
    private final @Nullable RefCounted foreign; // owner of memory that is not a pool's
    private final @Nullable ConstantViews<ConstantCopy> copies; // for a constant that commands may write
    private volatile @Nullable Farewell farewell; // once a deallocation is issued

    /** The storage until an issued deallocation is complete: host calls before it in the stream still see the bytes. */
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

    /** Mappable memory may be mapped; other memory is read and written through transfers, which all memory supports. */
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
        // Allocated immutable memory must still be filled once; imported memory has its contents already.
        boolean constant = imported && (params.usage() & BufferUsage.SHARING_IMMUTABLE) != 0;
        return constant ? MemoryAccess.READ : MemoryAccess.ALL;
    }

    /** An allocation with its storage. */
    static StreamBuffer allocated(StreamDevice device, BufferParams params, long length) {
        device.checkNotAbandoned();
        checkParams(params, length, ReservationRequest.MAXIMUM_ALIGNMENT);
        MemoryKind kind = device.memory().kind(params);
        StreamBuffer buffer = new StreamBuffer(device, kind, params, length, null, 0, false, null, null);
        buffer.commitFirst(device.memory().acquire(params, kind, length));
        return buffer;
    }

    /** An allocation whose storage comes with a {@link io.github.iree4j.hal.schedule.StorageGrant}. */
    static StreamBuffer reserved(
            StreamDevice device, BufferParams params, long length, StreamQueue origin, int placement) {
        checkParams(params, length, ReservationRequest.MAXIMUM_ALIGNMENT);
        return new StreamBuffer(
                device, device.memory().kind(params), params, length, origin, placement, false, null, null);
    }

    /**
     * Creates a buffer of memory that is not a pool's.
     *
     * @param owner released with the storage; takes over the caller's reference
     * @param copies views of a constant, which the owner keeps alive; null for other memory
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
     * Returns the allocation behind a buffer, which must be one of this device.
     *
     * @param what names the buffer in messages
     * @throws IreeException FAILED_PRECONDITION when it is closed, INVALID_ARGUMENT when it belongs to another device
     */
    static StreamBuffer of(StreamDevice device, String what, Buffer buffer) {
        if (usable(device, what, buffer) instanceof StreamBuffer own) {
            return own;
        }
        throw notOf(device, what, buffer);
    }

    /**
     * Returns the allocation behind a buffer for work that may also use memory of other devices: this device's, or one in host
     * memory.
     *
     * @param what names the buffer in messages
     * @throws IreeException FAILED_PRECONDITION when it is closed, INVALID_ARGUMENT when it belongs to another device whose
     *     memory cannot be used here, naming what is missing
     */
    static UsedBuffer usable(StreamDevice device, String what, Buffer buffer) {
        if (!buffer.isLive()) {
            throw new IreeException(
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
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "%s of %d bytes was not created by device '%s', which cannot use host memory in place: %s"
                            .formatted(what, buffer.length(), device.id(), obstacle));
        }
        throw notOf(device, what, buffer);
    }

    /** Returns the usable form of an allocation that {@link #usable} has accepted. */
    static UsedBuffer used(StreamDevice device, StoredBuffer<?> accepted) {
        return accepted instanceof StreamBuffer own && own.device.equals(device)
                ? own
                : new GuestBuffer(device, accepted);
    }

    private static IreeException notOf(StreamDevice device, String what, Buffer buffer) {
        return new IreeException(
                StatusCode.INVALID_ARGUMENT,
                "%s of %d bytes was not created by device '%s'".formatted(what, buffer.length(), device.id()));
    }

    @Override
    public StreamDevice device() {
        return device;
    }

    /** Returns its own memory; null where that is a pool's. */
    @Nullable
    RefCounted foreign() {
        return foreign;
    }

    /** Returns the views of a constant for calls that write into it; null where they use its storage. */
    @Override
    public @Nullable ConstantViews<ConstantCopy> copies() {
        return copies;
    }

    /**
     * Returns the storage as a user sees it.
     *
     * @param storage its own, which is pinned
     * @param user a user of {@link #copies()}; null for none
     * @return the user's copy, if this is a constant that the user has written; otherwise the storage
     */
    @Override
    public StreamStorage seenBy(StreamStorage storage, @Nullable Object user) {
        ConstantCopy copy = copies == null ? null : copies.seenBy(user);
        return copy == null ? storage : copy.storage();
    }

    /** Whether its owner could free its memory at any time, against the rules; Java notices that on access. */
    boolean isMemoryOfUser() {
        return isImported();
    }

    /** Returns its kind of memory. */
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
     * Refuses a user that comes before the allocation. One of which that is unknown may use the memory: its program has waited, or else harms
     * what it could also harm by a use without a wait before the deallocation, which nobody checks.
     */
    private void checkAllocatedBefore(Frontier user, String what) {
        if (isAllocatedBefore(user) == Known.NO) {
            throw unavailable(what);
        }
    }

    /** The same for a user whose waits are over, as those of the host are: it runs after what has completed. */
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
            throw new IreeException(
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

    /** Whether transfers of a device in the current thread's call write to a copy. */
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

    /** As {@link #pin}, for a device whose code uses the storage in place, as the call sees it. */
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
     * Whether the stream is past the allocation. An operation that waited for it may run before the scheduler has learned of
     * that: host calls, and work behind a completion that another queue reports first.
     */
    private boolean isPassed(Frontier allocation) {
        return origin() instanceof StreamQueue queue && queue.stream().hasReached(allocation.producerEpoch());
    }

    /**
     * Takes the storage away, when the deallocation is issued: operations that run after it get FAILED_PRECONDITION.
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
        // As the pool sees it: on a lost device nothing completes, and the bytes become others' once nothing is in
        // flight.
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
     * Begins a use by the host, whose waits are over: it comes before a deallocation that is not complete, though that may be issued.
     *
     * @throws IreeException FAILED_PRECONDITION when there is no storage, or its owner has freed it
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
     * The buffer as the host uses it, with its storage from the start. Confined to the thread that waits for its transfers, but for what
     * the transfers do.
     */
    final class HostUse implements UsedBuffer, AutoCloseable {
        private final StreamStorage storage;
        private final boolean pinned; // and once more by each transfer that retains this

        private HostUse(StreamStorage storage, boolean pinned) {
            this.storage = storage;
            this.pinned = pinned;
        }

        /** Whether it must not end before its transfers have: behind a deallocation that is issued, others get the memory after it. */
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
            // with the reference
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
        HostTransfers.read(this, offset, target);
    }

    @Override
    protected void copyFromHost(long offset, MemorySegment source) {
        HostTransfers.write(this, offset, source);
    }

    /** Writes bytes of the host, regardless of the access flags. */
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

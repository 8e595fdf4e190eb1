package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** An allocation of host memory. Its storage may come later than the object, and go earlier. */
final class LocalBuffer extends Buffer {
    /*
     * The storage's life is decided on one int:
     *
     *   31       30          29..0
     *   GONE  | COMMITTED | PINS
     *
     * PINS       operations that use the storage right now; taken only while COMMITTED and not GONE.
     * COMMITTED  storage is there (or was, once GONE); set once, after `block` is written.
     * GONE       deallocated, failed or destroyed; set once. Whoever brings a COMMITTED word to GONE with no PINS frees the storage.
     *
     * BUF-1: storage is freed exactly once, and never while somebody has it pinned.
     * BUF-2: whoever pins sees the block (COMMITTED is released after it).
     *
     * On a stream the storage is reserved when the allocation is issued, and others may have it once the deallocation is issued: they
     * run after it. What is here says only who may touch it. The pool takes each reservation back once, whoever is first.
     */
    private static final int GONE = 1 << 31;

    private static final int COMMITTED = 1 << 30;
    private static final int PINS = COMMITTED - 1;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(LocalBuffer.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final HostMemory memory;
    private final @Nullable LocalQueue origin;
    private final int placement;
    private final @Nullable RefCounted owner; // of imported memory
    private final boolean imported;
    private HostMemory.Block block = HostMemory.Block.NONE; // written once, before COMMITTED and before `reserved`
    private volatile @Nullable Frontier reserved; // of the allocation, once that is on a stream
    private volatile boolean announced; // a deallocation has been submitted
    private volatile boolean released; // on a stream, before the deallocation was executed
    private volatile @Nullable IreeException failure; // why storage never came

    @SuppressWarnings("UnusedVariable") // through STATE
    private int state;

    private LocalBuffer(
            HostMemory memory,
            BufferParams params,
            long length,
            @Nullable LocalQueue origin,
            int placement,
            boolean imported,
            @Nullable RefCounted owner) {
        super(memoryType(params), usage(params, imported), access(params, imported), length);
        this.memory = memory;
        this.origin = origin;
        this.placement = placement;
        this.imported = imported;
        this.owner = owner;
    }

    /** All memory here is host memory that the device uses directly: it has every property there is, asked for or not. */
    private static int memoryType(BufferParams params) {
        return params.memoryType() | MemoryType.HOST_LOCAL | MemoryType.HOST_CACHED | MemoryType.DEVICE_LOCAL;
    }

    private static int usage(BufferParams params, boolean imported) {
        int usage = params.usage() == 0 ? BufferUsage.DEFAULT : params.usage();
        int mapping = BufferUsage.MAPPING | BufferUsage.MAPPING_PERSISTENT;
        return usage | mapping | (imported ? BufferUsage.TRANSFER_SOURCE : BufferUsage.TRANSFER);
    }

    private static int access(BufferParams params, boolean imported) {
        if (params.access() != 0) {
            return params.access();
        }
        // Immutable memory that we allocate must still be filled once; imported memory has its contents already.
        boolean constant = imported && (params.usage() & BufferUsage.SHARING_IMMUTABLE) != 0;
        return constant ? MemoryAccess.READ : MemoryAccess.ALL;
    }

    /** An allocation with its storage. */
    static LocalBuffer allocated(HostMemory memory, BufferParams params, long length) {
        checkParams(params, length);
        LocalBuffer buffer = new LocalBuffer(memory, params, length, null, 0, false, null);
        buffer.commitFirst(memory.acquire(params, length));
        return buffer;
    }

    /** An allocation with its storage, which holds a copy of what is given. */
    static LocalBuffer copyOf(HostMemory memory, BufferParams params, MemorySegment contents) {
        long length = contents.byteSize();
        checkParams(params, length);
        LocalBuffer buffer = new LocalBuffer(memory, params, length, null, 0, false, null);
        HostMemory.Block storage = memory.acquire(params, length);
        try {
            storage.segment.copyFrom(contents);
        } catch (RuntimeException e) {
            storage.release(Frontier.EMPTY);
            throw e;
        }
        buffer.commitFirst(storage);
        return buffer;
    }

    /** An allocation whose storage comes with {@link #commit(Reservation)}. */
    static LocalBuffer reserved(HostMemory memory, BufferParams params, long length, LocalQueue origin, int placement) {
        checkParams(params, length);
        return new LocalBuffer(memory, params, length, origin, placement, false, null);
    }

    /** Memory of somebody else. */
    static LocalBuffer imported(
            HostMemory memory, BufferParams params, MemorySegment bytes, @Nullable RefCounted owner) {
        checkParams(params, bytes.byteSize());
        if (owner != null) {
            owner.retain();
        }
        LocalBuffer buffer = new LocalBuffer(memory, params, bytes.byteSize(), null, 0, true, owner);
        buffer.commitFirst(HostMemory.Block.imported(bytes));
        return buffer;
    }

    private int stateAcquire() {
        return (int) STATE.getAcquire(this);
    }

    private boolean casState(int expected, int next) {
        return STATE.compareAndSet(this, expected, next);
    }

    /** Gives a buffer its storage before anybody else has the buffer. */
    private void commitFirst(HostMemory.Block storage) {
        block = storage;
        STATE.setRelease(this, COMMITTED); // BUF-2
    }

    private static void checkParams(BufferParams params, long length) {
        if (length < 0) {
            throw new IreeException(StatusCode.INVALID_ARGUMENT, "buffer length " + length + " is negative");
        }
        long alignment = params.minimumAlignment();
        if (alignment < 0 || alignment > HostMemory.MAXIMUM_ALIGNMENT || (alignment & (alignment - 1)) != 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "buffer alignment " + alignment + " is not a power of two up to " + HostMemory.MAXIMUM_ALIGNMENT);
        }
    }

    /** The allocation is on a stream: says what the storage will be. */
    void reserve(HostMemory.Block storage, Frontier frontier) {
        block = storage;
        reserved = frontier;
        if (announced) {
            storage.announceRelease();
        }
    }

    /** Gives the buffer its storage. */
    void commit(Reservation reservation) {
        HostMemory.Block storage = reserved == null ? HostMemory.Block.of(reservation) : block;
        commit(storage);
        if (announced) { // whoever announced it and did not find the storage wrote that before
            storage.announceRelease();
        }
    }

    /** A deallocation is on its way. */
    void announceRelease() {
        announced = true;
        if (reserved != null || ((int) STATE.getVolatile(this) & COMMITTED) != 0) {
            block.announceRelease();
        }
    }

    /**
     * The deallocation is on a stream: whoever runs after it may have the storage, unless it came before the allocation.
     *
     * @return whether the storage was given on, so that the deallocation has to say when it was touched for the last time
     */
    boolean releaseAfter(Frontier death) {
        Frontier allocation = reserved;
        int s = stateAcquire();
        boolean allocated = (s & (COMMITTED | GONE)) == COMMITTED
                || allocation != null && death.reaches(allocation.producerAxis(), allocation.producerEpoch());
        if (!allocated || (stateAcquire() & GONE) != 0 || released) {
            return false;
        }
        released = true;
        return block.releaseAhead(death);
    }

    /** The deallocation that gave the storage on is over: nobody may touch it through this any more. */
    void endAccess() {
        markGone();
        awaitUsers();
        block.accessEnded();
    }

    /** Overwrites storage that was given on, before those have it who run after the deallocation, if that is wanted. */
    void wipe() {
        markGone();
        awaitUsers();
        memory.wipe(block);
    }

    /** Whoever uses the storage still was not ordered before the deallocation, and must be over before it is. */
    private void awaitUsers() {
        while ((stateAcquire() & PINS) != 0) {
            Thread.onSpinWait();
        }
    }

    /** Whether a deallocation takes the storage away. Else it goes with the last reference, and a deallocation is a barrier. */
    boolean isFreedInQueueOrder() {
        return (placement & PLACEMENT_ASYNCHRONOUS) != 0
                && (placement & PLACEMENT_INDETERMINATE_LIFETIME) == 0
                && !isPreservedByOthers();
    }

    void commit(HostMemory.Block storage) {
        block = storage;
        for (int s = stateAcquire(); ; s = stateAcquire()) {
            if ((s & COMMITTED) != 0) {
                throw new IreeException(StatusCode.INTERNAL, describe() + " gets storage twice");
            }
            // A failed buffer stays failed; its storage goes at once.
            if (casState(s, s | COMMITTED)) { // BUF-2
                if ((s & GONE) != 0) {
                    free();
                }
                return;
            }
        }
    }

    /**
     * Storage will not come, or is not to be used.
     *
     * @return whether it had come, and goes with its last user
     */
    boolean fail(IreeException cause) {
        failure = cause;
        markGone();
        return (stateAcquire() & COMMITTED) != 0;
    }

    /**
     * Gives storage back in queue order.
     *
     * @throws IreeException FAILED_PRECONDITION when there is none
     */
    void deallocate() {
        int before = stateAcquire();
        if ((before & (COMMITTED | GONE)) != COMMITTED || !markGone()) {
            throw unavailable("dealloca");
        }
    }

    /** Returns whether this call is the one that took the storage away from later users. */
    private boolean markGone() {
        for (int s = stateAcquire(); (s & GONE) == 0; s = stateAcquire()) {
            if (casState(s, s | GONE)) {
                if ((s & COMMITTED) != 0 && (s & PINS) == 0) {
                    free(); // BUF-1
                }
                return true;
            }
        }
        return false;
    }

    /**
     * Keeps the storage until {@link #unpin()}, whoever deallocates or closes the buffer meanwhile.
     *
     * @return the storage
     * @throws IreeException FAILED_PRECONDITION when there is none; why the allocation failed
     */
    HostMemory.Block pin() {
        for (int s = stateAcquire(); (s & (COMMITTED | GONE)) == COMMITTED; s = stateAcquire()) {
            if (casState(s, s + 1)) {
                HostMemory.Block storage = block;
                if (imported && !storage.segment.scope().isAlive()) {
                    unpin();
                    throw new IreeException(
                            StatusCode.FAILED_PRECONDITION,
                            "memory of imported " + describe()
                                    + " has been freed; keep its arena open while the buffer is");
                }
                return storage;
            }
        }
        throw unavailable("use");
    }

    /** Ends one {@link #pin()}. */
    void unpin() {
        int before = (int) STATE.getAndAdd(this, -1);
        if ((before & GONE) != 0 && (before & PINS) == 1) {
            free(); // BUF-1
        }
    }

    private void free() {
        if (!imported && !released) { // only called once COMMITTED
            memory.wipe(block);
            block.release(Frontier.EMPTY); // nobody is at it: what used it has been executed here
        }
        if (owner != null) {
            owner.release();
        }
    }

    private IreeException unavailable(String what) {
        IreeException failed = failure;
        if (failed != null) {
            return new IreeException(
                    failed.code(),
                    what + " of " + describe() + " whose allocation failed: " + failed.getMessage(),
                    failed);
        }
        int s = stateAcquire();
        String why = !isLive()
                ? " is closed"
                : (s & GONE) != 0
                        ? " has been deallocated"
                        : " is not allocated yet; wait for the signal of its alloca";
        return new IreeException(StatusCode.FAILED_PRECONDITION, what + " of " + describe() + ", which" + why);
    }

    @Override
    protected MemorySegment hostBytes(long offset, long length) {
        HostMemory.Block storage = pin();
        try {
            return storage.segment.asSlice(offset, length);
        } finally {
            unpin();
        }
    }

    @Override
    public int placement() {
        return placement;
    }

    @Override
    public @Nullable DeviceQueue origin() {
        return origin;
    }

    @Override
    protected void destroy() {
        markGone();
    }
}

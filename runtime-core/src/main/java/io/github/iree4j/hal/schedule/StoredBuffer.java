package io.github.iree4j.hal.schedule;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An allocation of a backend whose storage may come later than the object, and go earlier. For backends: who may touch the storage, and
 * who frees it, is decided here.
 *
 * @param <S> what the backend needs to know of the storage
 */
public abstract class StoredBuffer<S extends BufferStorage> extends Buffer {
    /*
     * The storage's life is decided on one int:
     *
     *   31       30          29..0
     *   GONE  | COMMITTED | PINS
     *
     * PINS       operations that use the storage right now; taken only while COMMITTED and not GONE.
     * COMMITTED  storage is there (or was, once GONE); set once, after `storage` is written.
     * GONE       deallocated, failed or destroyed; set once. Whoever brings a COMMITTED word to GONE with no PINS frees the storage.
     *
     * BUF-1: storage is freed exactly once, and never while somebody has it pinned.
     * BUF-2: whoever pins sees the storage (COMMITTED is released after it).
     *
     * On a stream the storage is reserved when the allocation is issued, and others may have it once the deallocation is issued: they
     * run after it. What is here says only who may touch it. The pool takes each reservation back once, whoever is first.
     *
     * Where the host does the work, COMMITTED comes and GONE goes when alloca and dealloca are executed. Where hardware does it, both
     * are decided when they are issued, as is who may pin: those that run after the one and not after the other.
     */
    private static final int GONE = 1 << 31;

    private static final int COMMITTED = 1 << 30;
    private static final int PINS = COMMITTED - 1;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(StoredBuffer.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int placement;
    private final @Nullable DeviceQueue origin;
    private final @Nullable RefCounted owner; // of imported memory
    private final boolean imported;
    private S storage; // written once, before COMMITTED and before `reserved`
    private volatile @Nullable Frontier reserved; // of the allocation, once that is on a stream
    private volatile boolean announced; // a deallocation has been submitted
    private volatile boolean released; // on a stream, before the deallocation was executed
    private volatile @Nullable IreeException failure; // why storage never came

    @SuppressWarnings("UnusedVariable") // through STATE
    private int state;

    /**
     * Creates a buffer without storage.
     *
     * @param memoryType bits of {@link MemoryType}
     * @param usage bits of {@link BufferUsage}
     * @param access bits of {@link MemoryAccess}
     * @param length bytes
     * @param none stands for storage until there is some
     * @param origin the queue that allocates it; null for the host
     * @param placement {@link #PLACEMENT_ASYNCHRONOUS} and {@link #PLACEMENT_INDETERMINATE_LIFETIME} bits
     * @param imported whether the memory is somebody else's
     * @param owner keeps imported memory valid, retained by the caller, released with the storage; null for none
     */
    protected StoredBuffer(
            int memoryType,
            int usage,
            int access,
            long length,
            S none,
            @Nullable DeviceQueue origin,
            int placement,
            boolean imported,
            @Nullable RefCounted owner) {
        super(memoryType, usage, access, length);
        this.storage = none;
        this.origin = origin;
        this.placement = placement;
        this.imported = imported;
        this.owner = owner;
    }

    /**
     * Checks what is asked for.
     *
     * @param params what kind of memory
     * @param length bytes
     * @param maximumAlignment the largest alignment that is possible, bytes
     * @throws IreeException INVALID_ARGUMENT for a negative length or an impossible alignment
     */
    protected static void checkParams(BufferParams params, long length, long maximumAlignment) {
        if (length < 0) {
            throw new IreeException(StatusCode.INVALID_ARGUMENT, "buffer length " + length + " is negative");
        }
        long alignment = params.minimumAlignment();
        if (alignment < 0 || alignment > maximumAlignment || (alignment & (alignment - 1)) != 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "buffer alignment " + alignment + " is not a power of two up to " + maximumAlignment);
        }
    }

    /**
     * Returns whose memory it is.
     *
     * @return the device, borrowed
     */
    public abstract Device device();

    private int stateAcquire() {
        return (int) STATE.getAcquire(this);
    }

    private boolean casState(int expected, int next) {
        return STATE.compareAndSet(this, expected, next);
    }

    /**
     * Returns whether the memory is somebody else's.
     *
     * @return true for imported memory
     */
    protected final boolean isImported() {
        return imported;
    }

    /**
     * Gives a buffer its storage before anybody else has the buffer.
     *
     * @param first the storage
     */
    protected final void commitFirst(S first) {
        storage = first;
        STATE.setRelease(this, COMMITTED); // BUF-2
    }

    /** The allocation is on a stream: says what the storage will be. */
    final void reserve(S coming, Frontier frontier) {
        if (isCommittedWhenIssued()) {
            reserved = frontier;
            commitStorage(coming);
        } else {
            storage = coming;
            reserved = frontier;
        }
        if (announced) {
            coming.announceRelease();
        }
    }

    /** Gives the buffer its storage, unless it has that since it was on a stream. */
    final void arrive(Reservation granted, Function<Reservation, S> make) {
        if (reserved == null) {
            commitStorage(make.apply(granted));
        } else if (!isCommittedWhenIssued()) {
            commitStorage(storage);
        }
        if (announced) { // whoever announced it and did not find the storage wrote that before
            storage.announceRelease();
        }
    }

    /** A deallocation is on its way. */
    public final void announceRelease() {
        announced = true;
        if (reserved != null || ((int) STATE.getVolatile(this) & COMMITTED) != 0) {
            storage.announceRelease();
        }
    }

    /**
     * Returns whether storage is decided when the allocation is issued, since hardware does the work.
     *
     * @return false where it comes when the allocation is executed
     */
    protected boolean isCommittedWhenIssued() {
        return false;
    }

    /**
     * Returns what the allocation's frontier was, once it is on a stream.
     *
     * @return the frontier; null before, and for what the host allocated
     */
    protected final @Nullable Frontier allocation() {
        return reserved;
    }

    /**
     * Returns whether the allocation comes before somebody, or is over.
     *
     * @param user what somebody runs after
     * @return true when the storage is there for him, unless it is gone
     */
    protected boolean isAllocatedBefore(Frontier user) {
        if ((stateAcquire() & COMMITTED) != 0) {
            return true;
        }
        Frontier allocation = reserved;
        return allocation != null && user.reaches(allocation.producerAxis(), allocation.producerEpoch());
    }

    /**
     * The deallocation is on a stream: whoever runs after it may have the storage, unless it came before the allocation.
     *
     * @param death the deallocation's frontier
     * @return whether the storage was given on, so that the deallocation has to say when it was touched for the last time
     */
    public final boolean releaseAfter(Frontier death) {
        if (!isAllocatedBefore(death) || isGone()) {
            return false;
        }
        released = true;
        return storage.releaseAhead(death); // once
    }

    /** The deallocation that gave the storage on is over: nobody may touch it through this any more. */
    public final void endAccess() {
        markGone();
        awaitUsers();
        storage.accessEnded();
    }

    /** Overwrites storage that was given on, before those have it who run after the deallocation, if that is wanted. */
    public final void wipe() {
        markGone();
        awaitUsers();
        wipe(storage);
    }

    /**
     * Overwrites storage that is freed, if that is wanted. Nobody uses it.
     *
     * @param freed the storage
     */
    protected abstract void wipe(S freed);

    /** Whoever uses the storage still was not ordered before the deallocation, and must be over before it is. */
    private void awaitUsers() {
        while ((stateAcquire() & PINS) != 0) {
            Thread.onSpinWait();
        }
    }

    /**
     * Returns whether a deallocation takes the storage away. Else it goes with the last reference, and a deallocation is a barrier.
     *
     * @return true for what a queue allocated, unless somebody else has a say
     */
    public final boolean isFreedInQueueOrder() {
        return (placement & PLACEMENT_ASYNCHRONOUS) != 0
                && (placement & PLACEMENT_INDETERMINATE_LIFETIME) == 0
                && !isPreservedByOthers();
    }

    /**
     * Gives the buffer its storage.
     *
     * @param come the storage
     * @throws IreeException INTERNAL when it has some
     */
    protected final void commitStorage(S come) {
        storage = come;
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
     * @param cause why
     * @return whether it had come, and goes with its last user
     */
    public final boolean fail(IreeException cause) {
        failure = cause;
        markGone();
        return (stateAcquire() & COMMITTED) != 0;
    }

    /**
     * Gives storage back in queue order.
     *
     * @throws IreeException FAILED_PRECONDITION when there is none
     */
    public final void deallocate() {
        int before = stateAcquire();
        if ((before & (COMMITTED | GONE)) != COMMITTED || !markGone()) {
            throw unavailable("dealloca");
        }
    }

    /**
     * Returns whether storage was taken away, or will never come.
     *
     * @return true from then on
     */
    protected final boolean isGone() {
        return (stateAcquire() & GONE) != 0;
    }

    /**
     * Takes the storage away from later users; it is freed with its last user.
     *
     * @return whether this call is the one that did
     */
    protected final boolean markGone() {
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
    protected final S pinStorage() {
        for (int s = stateAcquire(); (s & (COMMITTED | GONE)) == COMMITTED; s = stateAcquire()) {
            if (casState(s, s + 1)) {
                return storage;
            }
        }
        throw unavailable("use");
    }

    /**
     * Keeps the storage until {@link #unpin()}, for a device that did not allocate it and uses it where the host sees it.
     *
     * @param call whose work it is; null for none
     * @return what that call sees, whose {@link BufferStorage#host()} is not null
     * @throws IreeException FAILED_PRECONDITION when there is none yet or any more, and when the host does not see it; why the
     *     allocation failed
     */
    public final BufferStorage lend(@Nullable MemoryHolder call) {
        S own = pinStorage();
        try {
            S seen = lent(own, call);
            if (seen.host() == null) {
                throw new IreeException(
                        StatusCode.FAILED_PRECONDITION,
                        describe() + " is memory that its device alone sees; copy it there");
            }
            return seen;
        } catch (RuntimeException e) {
            unpin();
            throw e;
        }
    }

    /**
     * Checks that other devices may use the storage.
     *
     * @param own the storage, pinned
     * @param call whose work it is; null for none
     * @return what that call sees of it
     * @throws IreeException FAILED_PRECONDITION when they may not yet, or not any more
     */
    protected S lent(S own, @Nullable MemoryHolder call) {
        return own;
    }

    /** Ends one pin. */
    public final void unpin() {
        int before = (int) STATE.getAndAdd(this, -1);
        if ((before & GONE) != 0 && (before & PINS) == 1) {
            free(); // BUF-1
        }
    }

    private void free() { // only called once COMMITTED
        if (!imported) {
            if (released) {
                givenOn(storage);
            } else {
                wipe(storage);
                storage.release(Frontier.EMPTY); // nobody is at it: what used it is over
            }
        }
        if (owner != null) {
            owner.release();
        }
    }

    /** Storage that was given on has been touched for the last time; where the deallocation does not say so, this does. */
    private void givenOn(S storage) {
        if (isCommittedWhenIssued()) {
            storage.accessEnded();
        }
    }

    /**
     * Says why there is no storage.
     *
     * @param what was attempted
     * @return FAILED_PRECONDITION, or the failure of the allocation
     */
    protected final IreeException unavailable(String what) {
        IreeException failed = failure;
        if (failed != null) {
            return new IreeException(
                    failed.code(),
                    what + " of " + describe() + " whose allocation failed: " + failed.getMessage(),
                    failed);
        }
        String why = !isLive()
                ? " is closed"
                : isGone() ? " has been deallocated" : " is not allocated yet; wait for the signal of its alloca";
        return new IreeException(StatusCode.FAILED_PRECONDITION, what + " of " + describe() + ", which" + why);
    }

    @Override
    public final int placement() {
        return placement;
    }

    @Override
    public final @Nullable DeviceQueue origin() {
        return origin;
    }

    @Override
    protected final void destroy() {
        markGone();
    }
}

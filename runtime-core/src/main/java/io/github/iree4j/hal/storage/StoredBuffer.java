package io.github.iree4j.hal.storage;

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
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An allocation of a backend with storage that may appear later than the object, and be freed earlier. For backends.
 * Decides about access to the storage and about the freeing thread.
 *
 * @param <S> the backend's storage type
 */
public abstract class StoredBuffer<S extends BufferStorage> extends Buffer {
    /*
     * A single int decides the life of the storage:
     *
     *   31       30          29..0
     *   GONE  | COMMITTED | PINS
     *
     * PINS       operations using the storage right now; taken only while COMMITTED and not GONE.
     * COMMITTED  storage is there (or was, once GONE); set once, after `storage` is written.
     * GONE       deallocated, failed or destroyed; set once. The thread that takes a COMMITTED word to GONE with no PINS
     *            frees the storage.
     *
     * BUF-1: storage is freed exactly once, and never while pinned.
     * BUF-2: a pinning thread sees the storage (COMMITTED is released after `storage`).
     * BUF-5: a thread seeing the place of the allocation on a stream sees the storage (`reserved` is written after `storage`).
     *
     * On a stream the storage is reserved when the allocation is issued. Later operations may receive the storage once
     * the deallocation is issued, because they run after the deallocation. The word only controls access to the
     * storage. The pool accepts the release of each reservation once, from the first caller.
     *
     * Where the host does the work, COMMITTED and GONE are set when alloca and dealloca are executed. Where hardware
     * does the work, both are decided when alloca and dealloca are issued, and so is the permission to pin: for
     * operations that run after the alloca and not after the dealloca.
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
    private volatile @Nullable Frontier reserved; // frontier of the allocation, once on a stream
    private volatile boolean announced; // whether a deallocation has been submitted
    private volatile boolean released; // whether passed on by a stream before the deallocation was executed
    private volatile @Nullable IreeException failure; // the reason for missing storage

    @SuppressWarnings("UnusedVariable") // through STATE
    private int state;

    /**
     * Creates a buffer without storage.
     *
     * @param memoryType bits of {@link MemoryType}
     * @param usage bits of {@link BufferUsage}
     * @param access bits of {@link MemoryAccess}
     * @param length bytes
     * @param none placeholder until there is storage
     * @param origin the allocating queue; null for the host
     * @param placement {@link #PLACEMENT_ASYNCHRONOUS} and {@link #PLACEMENT_INDETERMINATE_LIFETIME} bits
     * @param imported whether the memory is imported
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
     * Checks the parameters of an allocation.
     *
     * @param params the kind of memory
     * @param length bytes
     * @param maximumAlignment the largest possible alignment, bytes
     * @throws IreeException INVALID_ARGUMENT for a negative length or an impossible alignment
     */
    protected static void checkParams(BufferParams params, long length, long maximumAlignment) {
        if (length < 0) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "buffer length " + length + " is negative");
        }
        long alignment = params.minimumAlignment();
        if (alignment < 0 || alignment > maximumAlignment || (alignment & (alignment - 1)) != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "buffer alignment " + alignment + " is not a power of two up to " + maximumAlignment);
        }
    }

    /**
     * Returns the device of the memory.
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
     * Returns whether the memory is imported.
     *
     * @return true for imported memory
     */
    protected final boolean isImported() {
        return imported;
    }

    /**
     * Gives a buffer its storage before the buffer is shared.
     *
     * @param first the storage
     */
    protected final void commitFirst(S first) {
        storage = first;
        STATE.setRelease(this, COMMITTED); // BUF-2
    }

    /** Records the future storage of an allocation on a stream. */
    final void reserve(S coming, Frontier frontier) {
        storage = coming;
        reserved = frontier; // BUF-5
        if (isCommittedWhenIssued()) {
            commitStorage(coming);
        }
        if (announced) {
            coming.announceRelease();
        }
    }

    /** Gives the buffer its storage, unless present since the allocation was put on a stream. */
    final void arrive(Reservation granted, Function<Reservation, S> make) {
        if (reserved == null) {
            commitStorage(make.apply(granted));
        } else if (!isCommittedWhenIssued()) {
            commitStorage(storage);
        }
        if (announced) { // the announcer wrote `announced` before finding no storage
            storage.announceRelease();
        }
    }

    /** Announces a pending deallocation. */
    public final void announceRelease() {
        announced = true;
        if (reserved != null || ((int) STATE.getVolatile(this) & COMMITTED) != 0) {
            storage.announceRelease();
        }
    }

    /**
     * Returns the reservation of the storage.
     *
     * @return the reservation, borrowed; null before there is storage, and for imported memory
     */
    public final @Nullable Reservation reservation() {
        return reserved != null || (stateAcquire() & COMMITTED) != 0 ? storage.reservation() : null;
    }

    /**
     * Returns whether storage is committed when the allocation is issued, because hardware does the work.
     *
     * @return false where storage is committed when the allocation is executed
     */
    protected boolean isCommittedWhenIssued() {
        return false;
    }

    /**
     * Returns the allocation's frontier, once on a stream.
     *
     * @return the frontier; null before, and for host allocations
     */
    protected final @Nullable Frontier allocation() {
        return reserved;
    }

    /**
     * Returns whether the allocation precedes a user, or is complete.
     *
     * @param user the frontier preceding the user
     * @return YES when the user finds storage, unless gone; NO when the user comes too early; UNKNOWN when the frontier
     *     has lost the deciding entry
     */
    protected Known isAllocatedBefore(Frontier user) {
        boolean committed = (stateAcquire() & COMMITTED) != 0; // read before `reserved`, which is written earlier
        Frontier allocation = reserved;
        if (allocation == null || committed && !isCommittedWhenIssued()) {
            return committed ? Known.YES : Known.NO; // a place on a stream is recorded before any wait for the place
        }
        return user.reaches(allocation.producerAxis(), allocation.producerEpoch());
    }

    /**
     * Passes the storage on when the deallocation is on a stream: operations running after the deallocation may reuse
     * the storage, if the deallocation is sure to run after the allocation. Otherwise the storage is passed on once
     * unused.
     *
     * @param death the deallocation's frontier
     * @return whether the storage was passed on; the deallocation must then report its last access
     */
    public final boolean releaseAfter(Frontier death) {
        if (isAllocatedBefore(death) != Known.YES || isGone()) {
            return false;
        }
        released = true;
        return storage.releaseAhead(death); // once
    }

    /** Ends the access of this buffer when the deallocation that passed the storage on is complete. */
    public final void endAccess() {
        markGone();
        awaitUsers();
        storage.accessEnded();
    }

    /** Overwrites storage passed on, if poisoning is enabled, before operations behind the deallocation use the storage. */
    public final void wipe() {
        markGone();
        awaitUsers();
        wipe(storage);
    }

    /**
     * Overwrites freed, unused storage, if poisoning is enabled.
     *
     * @param freed the storage
     */
    protected abstract void wipe(S freed);

    /** Waits for remaining users: these users were not ordered before the deallocation, and must end before the deallocation ends. */
    private void awaitUsers() {
        while ((stateAcquire() & PINS) != 0) {
            Thread.onSpinWait();
        }
    }

    /**
     * Returns whether a deallocation takes the storage away. Otherwise the storage is freed with the last reference,
     * and a deallocation is a barrier.
     *
     * @return true for storage allocated by a queue, unless jointly owned
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
     * @throws IreeException INTERNAL when the buffer already has storage
     */
    protected final void commitStorage(S come) {
        storage = come;
        for (int s = stateAcquire(); ; s = stateAcquire()) {
            if ((s & COMMITTED) != 0) {
                throw IreeException.of(StatusCode.INTERNAL, describe() + " gets storage twice");
            }
            // A failed buffer stays failed, and frees new storage at once.
            if (casState(s, s | COMMITTED)) { // BUF-2
                if ((s & GONE) != 0) {
                    free();
                }
                return;
            }
        }
    }

    /**
     * Fails the buffer: storage never comes, or must not be used.
     *
     * @param cause the cause
     * @return whether there was storage, freed by its last user
     */
    public final boolean fail(IreeException cause) {
        failure = cause;
        markGone();
        return (stateAcquire() & COMMITTED) != 0;
    }

    /**
     * Releases the storage in queue order.
     *
     * @throws IreeException FAILED_PRECONDITION without storage
     */
    public final void deallocate() {
        int before = stateAcquire();
        if ((before & (COMMITTED | GONE)) != COMMITTED || !markGone()) {
            throw unavailable("dealloca");
        }
    }

    /**
     * Returns whether the storage was taken away, or will never come.
     *
     * @return true from then on
     */
    protected final boolean isGone() {
        return (stateAcquire() & GONE) != 0;
    }

    /**
     * Takes the storage away from later users; the last user frees the storage.
     *
     * @return whether this call took the storage away
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
     * Keeps the storage until {@link #unpin()}, even if the buffer is deallocated or closed meanwhile.
     *
     * @return the storage
     * @throws IreeException FAILED_PRECONDITION without storage; the failure of the allocation
     */
    protected final S pinStorage() {
        S pinned = tryPinStorage();
        if (pinned == null) {
            throw unavailable("use");
        }
        return pinned;
    }

    /** As {@link #pinStorage()}; null without storage. */
    protected final @Nullable S tryPinStorage() {
        for (int s = stateAcquire(); (s & (COMMITTED | GONE)) == COMMITTED; s = stateAcquire()) {
            if (casState(s, s + 1)) {
                return storage;
            }
        }
        return null;
    }

    /**
     * Keeps the storage until {@link #unpin()}, for a device that did not allocate the storage and uses its host
     * mapping.
     *
     * @param call the call owning the work; null for none
     * @return the storage as seen by this call; {@link BufferStorage#host()} is not null
     * @throws IreeException FAILED_PRECONDITION when there is no storage yet or any more, or no host-visible storage;
     *     the failure of the allocation
     */
    public final BufferStorage lend(@Nullable MemoryHolder call) {
        S own = pinStorage();
        try {
            S seen = lent(own, call);
            if (seen.host() == null) {
                throw IreeException.of(
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
     * Uses the bytes, for work of another device that precedes the deallocation, even with the deallocation already on
     * a stream. Otherwise as {@link #lend}.
     *
     * @param call the call owning the work; null for none
     * @param use receives the storage as seen by this call
     * @throws IreeException as {@link #lend}
     */
    public final void lendTo(@Nullable MemoryHolder call, Consumer<? super BufferStorage> use) {
        BufferStorage lent;
        try {
            lent = lend(call);
        } catch (IreeException e) {
            BufferStorage leaving = leaving();
            if (leaving == null || leaving.host() == null) {
                throw e;
            }
            use.accept(leaving); // not passed on before the deallocation is complete
            return;
        }
        try {
            use.accept(lent);
        } finally {
            unpin();
        }
    }

    /**
     * Returns storage taken away by a deallocation that is issued and incomplete.
     *
     * @return the storage; null for none
     */
    protected @Nullable S leaving() {
        return null;
    }

    /**
     * Checks that other devices may use the storage.
     *
     * @param own the storage, pinned
     * @param call the call owning the work; null for none
     * @return the storage as seen by this call
     * @throws IreeException FAILED_PRECONDITION when other devices may not use the storage yet, or no longer
     */
    protected S lent(S own, @Nullable MemoryHolder call) {
        return own;
    }

    /**
     * Returns whether writes by the current thread's call go to a copy of the buffer owned by this call: for a constant
     * of a module. See {@link ConstantViews}.
     *
     * @param buffer a buffer of any backend
     * @return false outside of calls, because no copies are kept there
     */
    public static boolean isCopiedOnWrite(Buffer buffer) {
        return buffer.allocatedBuffer() instanceof StoredBuffer<?> stored
                && stored.isConstant()
                && MemoryHolder.current() != null;
    }

    /**
     * Returns whether this is a constant with a copy for each writing call.
     *
     * @return false for memory with the same content for all
     */
    protected boolean isConstant() {
        return false;
    }

    /** Pins once more, for the holder of a pin. */
    protected final void pinAgain() {
        STATE.getAndAdd(this, 1);
    }

    /** Ends a pin. */
    public final void unpin() {
        int before = (int) STATE.getAndAdd(this, -1);
        if ((before & GONE) != 0 && (before & PINS) == 1) {
            free(); // BUF-1
        }
    }

    private void free() { // requires COMMITTED
        if (!imported) {
            if (released) {
                givenOn(storage);
            } else {
                wipe(storage);
                Frontier allocation = reserved;
                // The storage's users are complete. So is the allocation, except where a deallocation could not tell.
                storage.release(allocation == null ? Frontier.EMPTY : allocation);
            }
        }
        if (owner != null) {
            owner.release();
        }
    }

    /** Reports the last access to storage passed on, where the deallocation does not. */
    private void givenOn(S storage) {
        if (isCommittedWhenIssued()) {
            storage.accessEnded();
        }
    }

    /**
     * Returns the exception for missing storage.
     *
     * @param what the attempted operation
     * @return FAILED_PRECONDITION, or the failure of the allocation
     */
    protected final IreeException unavailable(String what) {
        IreeException failed = failure;
        if (failed != null) {
            return IreeException.of(
                    failed.code(),
                    what + " of " + describe() + " whose allocation failed: " + failed.getMessage(),
                    failed);
        }
        String why = !isLive()
                ? " is closed"
                : isGone() ? " has been deallocated" : " is not allocated yet; wait for the signal of its alloca";
        return IreeException.of(StatusCode.FAILED_PRECONDITION, what + " of " + describe() + ", which" + why);
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

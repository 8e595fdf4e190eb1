package io.github.iree4j.hal.storage;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Admission;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.pool.ReservationListener;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Storage of an allocation in queue order: reserved when the operation is issued, or earlier, while waiting in line;
 * available after execution. For backends: an operation delegates its {@link StorageRequest} methods here.
 *
 * @param <S> the storage of the backend
 */
public final class StorageGrant<S extends BufferStorage> {
    /*
     * GRANT is null until memory is granted, then the Reservation, and OVER once the operation has failed. The thread
     * replacing a reservation in GRANT releases the reservation, and so does a thread granted memory while GRANT is
     * OVER.
     *
     * A reservation that no longer holds is kept until there is other memory or the operation waits in line again. The
     * operation thereby gains a place in line and gives up its memory atomically (PoolSet.reserveInstead).
     */
    private static final Object OVER = new Object();

    private static final VarHandle GRANT;

    static {
        try {
            GRANT = MethodHandles.lookup().findVarHandle(StorageGrant.class, "grant", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final StoredBuffer<S> buffer;
    private final PoolSet pools;
    private final ReservationRequest request;
    private final Function<Reservation, S> storage;

    @SuppressWarnings("UnusedVariable") // through GRANT
    private @Nullable Object grant;

    private @Nullable Cancellation waiting; // in line; guarded by this, once registered

    // Used by the requester, a single thread at a time.
    private @Nullable Reservation unusable; // the reservation in GRANT, now or before, while it must not be used
    private long age = ReservationRequest.YOUNGEST; // from the first failed request

    /**
     * Creates a pending grant.
     *
     * @param buffer the buffer receiving the storage; retained by the operation
     * @param pools the source of the memory
     * @param request the size and kind of memory
     * @param storage creates storage from a reservation
     */
    public StorageGrant(
            StoredBuffer<S> buffer, PoolSet pools, ReservationRequest request, Function<Reservation, S> storage) {
        this.buffer = buffer;
        this.pools = pools;
        this.request = request;
        this.storage = storage;
    }

    private @Nullable Object grantAcquire() {
        return GRANT.getAcquire(this);
    }

    private @Nullable Reservation reservation() {
        return grantAcquire() instanceof Reservation granted ? granted : null;
    }

    /**
     * As {@link StorageRequest#tryReservePresent}.
     *
     * @param after predecessors of the operation
     * @param timepoints points that the operation's hardware can wait for
     * @return true when there is memory
     */
    public boolean tryReservePresent(Frontier after, NativeTimepoints timepoints) {
        Reservation before = reservation();
        if (before != null) {
            boolean usable = before.revalidate(after, timepoints); // PREM-1
            unusable = usable ? null : before;
            if (usable) {
                return true;
            }
        }
        return kept(mayHold() ? pools.tryReservePresent(asked(after, timepoints)) : null);
    }

    /**
     * As {@link StorageRequest#tryReserve}.
     *
     * @param after predecessors of the operation
     * @param timepoints points that the operation's hardware can wait for
     * @return true when there is memory
     */
    public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
        Reservation before = reservation();
        return before != null && !before.equals(unusable)
                || kept(mayHold() ? pools.tryReserve(asked(after, timepoints)) : null);
    }

    /** Returns whether the call may be granted memory: a call whose fence has just been reached may have to wait for its turn. */
    private boolean mayHold() {
        Admission right = right();
        return right == null || right.mayHold();
    }

    private @Nullable Admission right() {
        MemoryHolder holder = request.holder();
        return holder == null ? null : holder.admission(pools.gate());
    }

    private ReservationRequest asked(Frontier after, NativeTimepoints timepoints) {
        return request.after(after, timepoints).withAge(age);
    }

    private boolean kept(@Nullable Reservation granted) {
        if (granted == null) {
            age = age == ReservationRequest.YOUNGEST ? pools.nextAge() : age;
            return false;
        }
        Reservation before = unusable;
        unusable = null;
        if (GRANT.compareAndSet(this, before, granted)) {
            if (before != null) {
                before.cancel();
            }
        } else {
            granted.cancel(); // the operation has failed meanwhile; its scheduler notices
        }
        return true;
    }

    /**
     * As {@link StorageRequest#reserve}.
     *
     * @param after predecessors of the operation
     * @param timepoints points that the operation's hardware can wait for
     * @param done notified of the outcome
     */
    public void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
        Admission right = right();
        if (right == null || !right.whenMayHold(() -> reserveLater(after, timepoints, done))) {
            joinLine(after, timepoints, done);
        }
    }

    private void reserveLater(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
        if (OVER.equals(grantAcquire())) {
            return; // the operation has failed meanwhile
        }
        try {
            joinLine(after, timepoints, done);
        } catch (RuntimeException | Error e) {
            done.accept(
                    e instanceof IreeException known
                            ? known
                            : IreeException.of(StatusCode.INTERNAL, "allocation failed: " + e, e));
        }
    }

    private void joinLine(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
        ReservationListener listener = (granted, failure) -> {
            if (granted != null && !GRANT.compareAndSet(this, null, granted)) {
                granted.cancel(); // too late: the operation has failed
            }
            done.accept(failure);
        };
        Reservation before = unusable;
        unusable = null;
        Cancellation cancellation = before != null && GRANT.compareAndSet(this, before, null)
                ? pools.reserveInstead(before, asked(after, timepoints), listener)
                : pools.reserve(asked(after, timepoints), listener);
        synchronized (this) {
            waiting = cancellation;
        }
        if (OVER.equals(grantAcquire())) { // failed() may have run before `waiting` was set
            cancellation.cancel();
        }
    }

    /**
     * As {@link StorageRequest#marks}.
     *
     * @return the marks that the hardware must wait for
     */
    public List<NativeTimepoint> marks() {
        Reservation granted = reservation();
        return granted == null ? List.of() : granted.waits();
    }

    /**
     * As {@link StorageRequest#premise}.
     *
     * @return the frontier to complete before the memory is used
     */
    public Frontier premise() {
        Reservation granted = reservation();
        return granted == null ? Frontier.EMPTY : granted.death();
    }

    /**
     * As {@link StorageRequest#bytes}.
     *
     * @return bytes
     */
    public long bytes() {
        return request.size();
    }

    /**
     * As {@link StorageRequest#pool}.
     *
     * @return the name of the pool
     */
    public String pool() {
        return pools.route(request).name();
    }

    /**
     * As {@link StorageRequest#memory}.
     *
     * @return the reservation; null for none
     */
    public @Nullable Reservation memory() {
        return reservation();
    }

    /**
     * As {@link StorageRequest#issued}: subsequent operations may use the memory.
     *
     * @param frontier the operation's frontier
     */
    public void issued(Frontier frontier) {
        Reservation granted = reservation();
        if (granted != null) {
            buffer.reserve(storage.apply(granted), frontier);
        }
    }

    /** Gives the buffer its storage after the execution of the operation. */
    public void executed() {
        Reservation granted = reservation();
        if (granted != null) {
            buffer.arrive(granted, storage);
        }
    }

    /**
     * Ends the grant of a failed operation: releases the memory, and the buffer never has any.
     *
     * @param cause the cause
     * @param own the operation's frontier; empty for an operation never issued
     */
    public void failed(IreeException cause, Frontier own) {
        Object before = GRANT.getAndSet(this, OVER);
        Cancellation line;
        synchronized (this) {
            line = waiting;
        }
        if (line != null) {
            line.cancel();
        }
        boolean committed = buffer.fail(cause);
        if (before instanceof Reservation granted && !committed) {
            if (own.size() == 0) {
                granted.cancel(); // never issued
            } else {
                granted.release(own);
            }
        }
    }
}

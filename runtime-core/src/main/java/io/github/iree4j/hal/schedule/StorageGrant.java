package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.pool.ReservationListener;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How an allocation in queue order comes to its storage: reserved when the operation is issued, or in line before that; there when it has
 * been executed. For backends: an operation delegates to it what a {@link StorageRequest} is asked.
 *
 * @param <S> the storage of the backend
 */
public final class StorageGrant<S extends BufferStorage> {
    /*
     * GRANT is null until somebody grants memory, then the Reservation, and OVER once the operation has failed: who takes it away from
     * what it was gives the memory back, and so does who is granted some when it is OVER.
     *
     * A reservation that does not hold any more is kept until there is other memory or the operation stands in line again, so that its
     * place in line and what it had change in one moment (PoolSet.reserveInstead).
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

    private @Nullable Cancellation waiting; // in line; guarded by this, once somebody waits

    // Of who asks, of whom there is one at a time.
    private @Nullable Reservation unusable; // what GRANT is, or was, while that may not be used
    private long age = ReservationRequest.YOUNGEST; // since it asked in vain for the first time

    /**
     * Makes a grant that is still to come.
     *
     * @param buffer what gets the storage; retained by the operation
     * @param pools where it comes from
     * @param request for how much
     * @param storage makes storage of what was reserved
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
     * @param after what the operation runs after
     * @param timepoints what its hardware can wait for
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
        return kept(pools.tryReservePresent(asked(after, timepoints)));
    }

    /**
     * As {@link StorageRequest#tryReserve}.
     *
     * @param after what the operation runs after
     * @param timepoints what its hardware can wait for
     * @return true when there is memory
     */
    public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
        Reservation before = reservation();
        return before != null && !before.equals(unusable) || kept(pools.tryReserve(asked(after, timepoints)));
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
            granted.cancel(); // the operation has failed meanwhile, which its scheduler finds
        }
        return true;
    }

    /**
     * As {@link StorageRequest#reserve}.
     *
     * @param after what the operation runs after
     * @param timepoints what its hardware can wait for
     * @param done told how it ended
     */
    public void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
        ReservationListener listener = (granted, failure) -> {
            if (granted != null && !GRANT.compareAndSet(this, null, granted)) {
                granted.cancel(); // nobody wants it any more
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
        if (OVER.equals(grantAcquire())) { // whoever ended it may have come before
            cancellation.cancel();
        }
    }

    /**
     * As {@link StorageRequest#marks}.
     *
     * @return what the hardware must wait for
     */
    public List<NativeTimepoint> marks() {
        Reservation granted = reservation();
        return granted == null ? List.of() : granted.waits();
    }

    /**
     * As {@link StorageRequest#premise}.
     *
     * @return what has to be over before the memory is used
     */
    public Frontier premise() {
        Reservation granted = reservation();
        return granted == null ? Frontier.EMPTY : granted.death();
    }

    /**
     * As {@link StorageRequest#issued}: what is issued behind it may use the memory.
     *
     * @param frontier the operation's frontier
     */
    public void issued(Frontier frontier) {
        Reservation granted = reservation();
        if (granted != null) {
            buffer.reserve(storage.apply(granted), frontier);
        }
    }

    /** The operation has been executed: the buffer has its storage. */
    public void executed() {
        Reservation granted = reservation();
        if (granted != null) {
            buffer.arrive(granted, storage);
        }
    }

    /**
     * The operation has failed: nobody gets the memory, and the buffer never has any.
     *
     * @param cause why
     * @param own the operation's frontier; empty when it was never issued
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

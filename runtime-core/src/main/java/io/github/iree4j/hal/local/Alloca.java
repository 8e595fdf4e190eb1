package io.github.iree4j.hal.local;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.StorageRequest;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Gives a buffer its storage: reserved when the operation is issued, or in line before that; there when it has been executed. */
final class Alloca extends HostOperation implements StorageRequest {
    /*
     * GRANT is null until somebody grants memory, then the Reservation, and OVER once the operation has failed: who takes it away from
     * what it was gives the memory back, and so does who is granted some when it is OVER.
     */
    private static final Object OVER = new Object();

    private static final VarHandle GRANT;

    static {
        try {
            GRANT = MethodHandles.lookup().findVarHandle(Alloca.class, "grant", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LocalBuffer buffer;
    private final PoolSet pools;
    private final ReservationRequest request;

    @SuppressWarnings("UnusedVariable") // through GRANT
    private @Nullable Object grant;

    private @Nullable Cancellation waiting; // in line; guarded by this, once somebody waits

    Alloca(LocalBuffer buffer, PoolSet pools, ReservationRequest request) {
        super("alloca");
        this.buffer = buffer;
        this.pools = pools;
        this.request = request;
    }

    private @Nullable Object grantAcquire() {
        return GRANT.getAcquire(this);
    }

    private @Nullable Reservation reservation() {
        return grantAcquire() instanceof Reservation granted ? granted : null;
    }

    @Override
    public boolean tryReservePresent(Frontier after, NativeTimepoints timepoints) {
        return reservation() != null || kept(pools.tryReservePresent(request.after(after, timepoints)));
    }

    @Override
    public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
        return reservation() != null || kept(pools.tryReserve(request.after(after, timepoints)));
    }

    private boolean kept(@Nullable Reservation granted) {
        if (granted != null) {
            keep(granted);
        }
        return granted != null;
    }

    @Override
    public void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
        Cancellation cancellation = pools.reserve(request.after(after, timepoints), (granted, failure) -> {
            if (granted != null) {
                keep(granted);
            }
            done.accept(failure);
        });
        synchronized (this) {
            waiting = cancellation;
        }
        if (OVER.equals(grantAcquire())) { // whoever ended it may have come before
            cancellation.cancel();
        }
    }

    /** Keeps what was granted, or gives it back when nobody wants it any more. */
    private void keep(Reservation granted) {
        if (!GRANT.compareAndSet(this, null, granted)) {
            granted.cancel();
        }
    }

    @Override
    public List<NativeTimepoint> marks() {
        Reservation granted = reservation();
        return granted == null ? List.of() : granted.waits();
    }

    @Override
    public void issued(Frontier frontier) {
        Reservation granted = reservation();
        if (granted != null) {
            buffer.reserve(HostMemory.Block.of(granted), frontier);
        }
    }

    @Override
    long nanos() {
        return Operations.STEP_NANOS;
    }

    @Override
    void run() {
        Reservation granted = reservation();
        if (granted != null) {
            buffer.commit(granted);
        }
    }

    @Override
    protected void failed(IreeException cause) {
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
            Frontier own = frontier();
            if (own.size() == 0) {
                granted.cancel(); // never issued
            } else {
                granted.release(own);
            }
        }
    }

    @Override
    protected void retain() {
        buffer.retain();
    }

    @Override
    protected void release() {
        buffer.release();
    }
}

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
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Gives a buffer its storage: reserved when the operation is issued, or in line before that; there when it has been executed. */
final class Alloca extends HostOperation implements StorageRequest {
    /*
     * `reservation` is set by whoever grants it, under `this`, until the operation has failed: what is granted after that goes back.
     */
    private final LocalBuffer buffer;
    private final PoolSet pools;
    private final ReservationRequest request;
    private @Nullable Reservation reservation; // guarded by this, like the next two
    private Cancellation waiting = Cancellation.OVER;
    private boolean over;

    Alloca(LocalBuffer buffer, PoolSet pools, ReservationRequest request) {
        super("alloca");
        this.buffer = buffer;
        this.pools = pools;
        this.request = request;
    }

    @Override
    public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
        synchronized (this) {
            if (reservation != null) {
                return true;
            }
        }
        Reservation granted = pools.tryReserve(request.after(after, timepoints));
        return granted != null && keep(granted);
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
            if (!over) {
                waiting = cancellation;
                return;
            }
        }
        cancellation.cancel();
    }

    /** Keeps what was granted, or gives it back when nobody wants it any more. */
    private boolean keep(Reservation granted) {
        synchronized (this) {
            if (!over) {
                reservation = granted;
                return true;
            }
        }
        granted.cancel();
        return true;
    }

    private synchronized @Nullable Reservation reservation() {
        return reservation;
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
        Reservation granted;
        Cancellation line;
        synchronized (this) {
            over = true;
            granted = reservation;
            line = waiting;
        }
        line.cancel();
        boolean committed = buffer.fail(cause);
        if (granted != null && !committed) {
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

package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.hal.storage.StorageGrant;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Gives a buffer its storage: reserved when the operation is issued, or earlier, while waiting in line; available once executed. */
final class Alloca extends HostOperation implements StorageRequest {
    private final LocalBuffer buffer;
    private final StorageGrant<HostMemory.Block> grant;

    Alloca(LocalBuffer buffer, PoolSet pools, ReservationRequest request) {
        super(ALLOCA);
        this.buffer = buffer;
        this.grant = new StorageGrant<>(buffer, pools, request, HostMemory.Block::of);
    }

    @Override
    public boolean tryReservePresent(Frontier after, NativeTimepoints timepoints) {
        return grant.tryReservePresent(after, timepoints);
    }

    @Override
    public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
        return grant.tryReserve(after, timepoints);
    }

    @Override
    public void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
        grant.reserve(after, timepoints, done);
    }

    @Override
    public List<NativeTimepoint> marks() {
        return grant.marks();
    }

    @Override
    public Frontier premise() {
        return grant.premise();
    }

    @Override
    public long bytes() {
        return grant.bytes();
    }

    @Override
    public String pool() {
        return grant.pool();
    }

    @Override
    public @Nullable Reservation memory() {
        return grant.memory();
    }

    @Override
    public void issued(Frontier frontier) {
        grant.issued(frontier);
    }

    @Override
    long nanos() {
        return Operations.STEP_NANOS;
    }

    @Override
    void run() {
        grant.executed();
    }

    @Override
    protected void failed(IreeException cause) {
        grant.failed(cause, frontier());
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

package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An operation with a need for staging memory before issue. Other operations may overtake the operation while no
 * staging memory is free.
 */
abstract class StagedOperation extends TransferOperation implements StorageRequest {
    final StagingPiece piece;
    private final Staging staging;

    StagedOperation(String name, StreamQueue queue, StagingPiece piece, UsedBuffer... buffers) {
        super(name, queue, buffers);
        this.piece = piece;
        this.staging = queue.staging();
    }

    @Override
    public boolean tryReservePresent(Frontier after, NativeTimepoints timepoints) {
        return piece.tryLease(staging);
    }

    @Override
    public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
        return piece.tryLease(staging);
    }

    @Override
    public void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
        piece.lease(staging, done);
    }

    @Override
    public List<NativeTimepoint> marks() {
        return List.of();
    }

    @Override
    public Frontier premise() {
        return Frontier.EMPTY;
    }

    @Override
    public void issued(Frontier frontier) {}

    @Override
    protected void retain() {
        super.retain();
        piece.hold();
    }

    @Override
    protected void release() {
        super.release();
        piece.end();
    }
}

package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.storage.StorageRelease;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** Takes a buffer's storage away in queue order. */
final class Dealloca extends HostOperation implements StorageRelease {
    private final LocalBuffer buffer;
    private volatile boolean ahead; // whether passed on to subsequent operations

    Dealloca(LocalBuffer buffer) {
        super(DEALLOCA);
        this.buffer = buffer;
        buffer.announceRelease();
    }

    @Override
    public @Nullable Reservation memory() {
        return buffer.reservation();
    }

    @Override
    public void issued(Frontier death) {
        ahead = buffer.releaseAfter(death);
    }

    @Override
    long nanos() {
        return Operations.STEP_NANOS;
    }

    @Override
    void run() {
        try {
            buffer.deallocate();
        } finally {
            if (ahead) {
                ahead = false;
                buffer.wipe();
                buffer.endAccess();
            }
        }
    }

    @Override
    protected void failed(IreeException cause) {
        if (ahead) { // the dealloca did not run, but the storage was passed on
            ahead = false;
            buffer.endAccess();
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

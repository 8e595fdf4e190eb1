package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.StorageRelease;

/** Takes a buffer's storage away in queue order. */
final class Dealloca extends HostOperation implements StorageRelease {
    private final LocalBuffer buffer;

    Dealloca(LocalBuffer buffer) {
        super("dealloca");
        this.buffer = buffer;
        buffer.announceRelease();
    }

    @Override
    public void issued(Frontier death) {
        buffer.releaseAfter(death);
    }

    @Override
    long nanos() {
        return Operations.STEP_NANOS;
    }

    @Override
    void run() {
        buffer.deallocate();
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

package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.storage.BufferStorage;
import io.github.iree4j.hal.storage.ConstantViews;
import io.github.iree4j.hal.storage.StoredBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/** A buffer of another device, with memory used in place: directly where device code reaches the memory, otherwise through a temporary import. */
final class ForeignBuffer implements UsedBuffer {
    private final StreamDevice device;
    private final StoredBuffer<?> lender;

    ForeignBuffer(StreamDevice device, StoredBuffer<?> lender) {
        this.device = device;
        this.lender = lender;
    }

    @Override
    public long length() {
        return lender.length();
    }

    @Override
    public StreamStorage pin(StreamOperation user) {
        return pin(user.frontier(), user.call());
    }

    @Override
    public StreamStorage pin(Frontier before, @Nullable MemoryHolder call) {
        if (lender instanceof StreamBuffer peer) {
            return peer.lendToPeer(before, call);
        }
        BufferStorage storage = lender.lend(call);
        try {
            return device.imports().begin(storage);
        } catch (RuntimeException e) {
            lender.unpin();
            throw e;
        }
    }

    @Override
    public void unpin(StreamStorage pinned) {
        if (!(lender instanceof StreamBuffer)) {
            device.imports().end(pinned);
        }
        lender.unpin();
    }

    @Override
    public StreamStorage seenBy(StreamStorage storage, @Nullable Object user) {
        return storage;
    }

    @Override
    public @Nullable ConstantViews<ConstantCopy> copies() {
        return null;
    }

    @Override
    public void checkWritable() {
        if ((lender.access() & MemoryAccess.WRITE) == 0) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "buffer of %d bytes is read-only memory of another device, and a shader of device '%s' may write it"
                            .formatted(lender.length(), device.id()));
        }
    }

    @Override
    public void retain() {
        lender.retain();
    }

    @Override
    public void release() {
        lender.release();
    }
}

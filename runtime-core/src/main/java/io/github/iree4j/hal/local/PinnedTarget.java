package io.github.iree4j.hal.local;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.storage.ConstantViews;
import io.github.iree4j.hal.storage.StoredBuffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Storage written by an operation, pinned until closed: for a constant, the call's view. For a single thread. */
final class PinnedTarget implements AutoCloseable {
    private final StoredBuffer<?> buffer;
    private final HostMemory.Block block;
    private final @Nullable ConstantViews<ConstantView> constant;
    private final @Nullable ConstantView view;
    private final Object user;

    /**
     * Pins the storage.
     *
     * @param call the writing call; null for none
     * @throws io.github.iree4j.status.IreeException when the buffer has no storage; RESOURCE_EXHAUSTED without memory
     *     for a view
     */
    PinnedTarget(StoredBuffer<?> buffer, @Nullable MemoryHolder call) {
        this.buffer = buffer;
        this.user = call == null ? this : call;
        HostMemory.Block own = PinnedBuffers.lent(buffer, call);
        try {
            constant = buffer instanceof LocalBuffer local ? local.views() : null;
            view = constant == null ? null : constant.begin(user);
            block = view == null ? own : view.block();
        } catch (RuntimeException | Error e) {
            buffer.unpin();
            throw e;
        }
    }

    /** Returns the bytes of the allocation. */
    MemorySegment bytes() {
        return block.segment;
    }

    /**
     * Returns a range for writes by the operating system. The system does not wait for a view made writable by a store.
     *
     * @param offset first byte
     * @param length bytes
     */
    MemorySegment bytesForSystem(long offset, long length) {
        MemorySegment range = block.segment.asSlice(offset, length);
        if (view != null) {
            ConstantView.touch(range);
        }
        return range;
    }

    @Override
    public void close() {
        if (constant != null && view != null) {
            constant.end(view, user);
        }
        buffer.unpin();
    }
}

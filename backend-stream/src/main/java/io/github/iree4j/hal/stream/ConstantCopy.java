package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.schedule.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A call's view of a constant for commands that may write the constant: a copy, in the device's memory pools. Shaders
 * declare the written bindings ({@link StreamEncoder#mayWrite}), and transfers name their target, so other calls need
 * no copy.
 */
final class ConstantCopy extends ConstantViews.View {
    private final StreamStorage storage;

    private ConstantCopy(StreamStorage storage) {
        this.storage = storage;
    }

    /**
     * Creates the views of a constant.
     *
     * @param constant the imported bytes
     * @param owner keeps the bytes valid; null when not needed
     */
    static ConstantViews<ConstantCopy> of(
            StreamMemory memory, BufferParams params, MemorySegment constant, @Nullable RefCounted owner) {
        return new ConstantViews<>(
                constant.byteSize(),
                base -> {
                    StreamStorage storage = memory.acquire(params, memory.readback(), constant.byteSize());
                    storage.mapped().copyFrom(base == null ? constant : base.storage.mapped());
                    return new ConstantCopy(storage);
                },
                owner);
    }

    StreamStorage storage() {
        return storage;
    }

    @Override
    protected boolean isWritten() {
        return true; // only created for writing commands
    }

    @Override
    protected boolean tryRestore() {
        return false; // not worth keeping
    }

    @Override
    protected void close() {
        storage.release(Frontier.EMPTY);
    }
}

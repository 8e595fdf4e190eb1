package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.storage.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A call's view of a constant for commands that may write the constant: a copy, in the device's memory pools, or a view
 * of the driver. Shaders declare the written bindings ({@link io.github.iree4j.hal.Executable#mayWrite}), and transfers
 * name their target, so other calls need no copy; the driver notices writes to its views.
 */
final class ConstantCopy extends ConstantViews.View {
    private final StreamStorage storage;
    private final @Nullable DriverMemory view; // of the driver; null for a copy

    private ConstantCopy(StreamStorage storage, @Nullable DriverMemory view) {
        this.storage = storage;
        this.view = view;
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
                    return new ConstantCopy(storage, null);
                },
                owner);
    }

    /**
     * Creates the views of a constant of a driver.
     *
     * @param constant the result of {@link StreamDriver#importConstant}
     * @param owner keeps the bytes valid; null when not needed
     */
    static ConstantViews<ConstantCopy> of(DriverMemory constant, long size, @Nullable RefCounted owner) {
        return new ConstantViews<>(
                size,
                base -> {
                    DriverMemory view = constant.view(base == null ? null : base.view);
                    return new ConstantCopy(StreamStorage.of(view, size), view);
                },
                owner);
    }

    StreamStorage storage() {
        return storage;
    }

    @Override
    protected boolean isWritten() {
        return view == null || view.isWritten(); // a copy is only created for writing commands
    }

    @Override
    protected boolean isKnownLate() {
        return view != null;
    }

    @Override
    protected boolean tryRestore() {
        return false; // not worth keeping
    }

    @Override
    protected void close() {
        if (view == null) {
            storage.release(Frontier.EMPTY);
        } else {
            view.close();
        }
    }
}

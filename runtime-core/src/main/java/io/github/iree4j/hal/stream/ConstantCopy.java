package io.github.iree4j.hal.stream;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.schedule.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * What a call sees of a constant into which one of its shaders may write: a copy, in the device's memory pools. Shaders say what they write
 * ({@link StreamEncoder#mayWrite}), so others need none.
 */
final class ConstantCopy extends ConstantViews.View {
    private final StreamStorage storage;

    private ConstantCopy(StreamStorage storage) {
        this.storage = storage;
    }

    /**
     * Makes copies of a constant possible.
     *
     * @param constant the bytes, which are imported
     * @param owner what keeps them; null when nothing needs to
     */
    static ConstantViews<ConstantCopy> of(
            StreamMemory memory, BufferParams params, MemorySegment constant, @Nullable RefCounted owner) {
        return new ConstantViews<>(
                constant.byteSize(),
                () -> {
                    StreamStorage storage = memory.acquire(params, memory.readback(), constant.byteSize());
                    storage.mapped().copyFrom(constant);
                    return new ConstantCopy(storage);
                },
                owner);
    }

    StreamStorage storage() {
        return storage;
    }

    @Override
    protected boolean isWritten() {
        return true; // made for shaders that do
    }

    @Override
    protected boolean tryRestore() {
        return false; // its memory is of more use to others
    }

    @Override
    protected void close() {
        storage.release(Frontier.EMPTY);
    }
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.ViewedConstant;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A constant whose views are copies, for work that may write, as declared by {@link io.github.iree4j.hal.Executable#mayWrite}. */
final class StreamConstant extends ViewedConstant {
    private static final long ALIGNMENT = 64;

    private final StreamAllocator allocator;
    private final BufferParams params;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes;

    StreamConstant(StreamAllocator allocator, BufferParams params, long size) {
        this.allocator = allocator;
        this.params = params;
        this.bytes = arena.allocate(size, ALIGNMENT);
    }

    @Override
    public MemorySegment writable() {
        return bytes;
    }

    @Override
    public Buffer seal() {
        return allocator.allocate(params.withAccess(MemoryAccess.READ), bytes);
    }

    @Override
    public View view() {
        return new View(allocator.allocate(params, bytes), () -> true);
    }

    @Override
    protected void destroy() {
        arena.close();
    }
}

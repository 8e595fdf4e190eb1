package io.github.iree4j.hal;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A part of an allocation, holding a reference to the allocation. */
final class BufferSubspan extends Buffer {
    private final Buffer allocated;
    private final long offset;

    BufferSubspan(Buffer parent, long offset, long length) {
        super(parent.memoryType(), parent.usage(), parent.access(), length);
        this.allocated = parent.allocatedBuffer();
        this.offset = offset;
        allocated.retain();
    }

    @Override
    public long offset() {
        return offset;
    }

    @Override
    public Buffer allocatedBuffer() {
        return allocated;
    }

    @Override
    public int placement() {
        return allocated.placement();
    }

    @Override
    public @Nullable DeviceQueue origin() {
        return allocated.origin();
    }

    @Override
    protected MemorySegment hostBytes(long from, long bytes) {
        return allocated.hostBytes(from, bytes);
    }

    @Override
    protected void destroy() {
        allocated.release();
    }
}

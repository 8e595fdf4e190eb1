package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.vm.VmBuffer;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Makes the memory of a buffer addressable by programs, and finds the buffer of such memory. Each reference to the memory retains the
 * buffer.
 */
record InlineStorage(Buffer buffer) implements RefCounted {
    /** Returns the bytes of a buffer, writable if the buffer is; the caller owns a reference. */
    static VmBuffer of(Buffer buffer) {
        int access = buffer.access() & (MemoryAccess.READ | MemoryAccess.WRITE);
        MemorySegment bytes = buffer.map(access, 0, Buffer.WHOLE);
        buffer.retain();
        return VmBuffer.wrap(bytes, (access & MemoryAccess.WRITE) != 0, new InlineStorage(buffer));
    }

    /** Returns the buffer behind memory of a program, or null. */
    static @Nullable Buffer behind(VmBuffer memory) {
        return memory.owner() instanceof InlineStorage storage ? storage.buffer() : null;
    }

    @Override
    public void retain() {
        buffer.retain();
    }

    @Override
    public void release() {
        buffer.release();
    }
}

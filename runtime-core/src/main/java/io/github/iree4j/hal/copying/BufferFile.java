package io.github.iree4j.hal.copying;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.storage.BufferStorage;
import io.github.iree4j.hal.storage.StoredBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A host-visible buffer as a file for queues of other devices to read and write. The storage is resolved on use. */
final class BufferFile extends HalFile {
    private final Buffer buffer;
    private final StoredBuffer<?> stored;
    private final @Nullable MemoryHolder call; // the call with the view of constants to use

    /** Creates a file and retains the buffer. */
    BufferFile(Buffer buffer) {
        super("buffer of " + buffer.length() + " bytes", buffer.access());
        if (!(buffer.allocatedBuffer() instanceof StoredBuffer<?> allocation)) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, describe() + " is of no device");
        }
        this.buffer = buffer;
        this.stored = allocation;
        this.call = MemoryHolder.current();
        buffer.retain();
    }

    @Override
    public long length() {
        return buffer.length();
    }

    @Override
    protected void doRead(long offset, MemorySegment target) {
        stored.lendTo(call, storage -> target.copyFrom(bytes(storage, offset, target.byteSize())));
    }

    @Override
    protected void doWrite(long offset, MemorySegment source) {
        stored.lendTo(call, storage -> bytes(storage, offset, source.byteSize()).copyFrom(source));
    }

    private MemorySegment bytes(BufferStorage storage, long offset, long length) {
        return Objects.requireNonNull(storage.host()).asSlice(buffer.offset() + offset, length);
    }

    @Override
    protected void destroy() {
        buffer.release();
    }
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.storage.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/** A native allocation with a single buffer: imported or exportable memory. Freed with the buffer's storage. */
final class ForeignMemory implements RefCounted {
    private final DriverMemory allocation;
    private final StreamSlabs provider;
    private final @Nullable Arena mapping;
    private final @Nullable RefCounted owner;

    /**
     * Takes ownership of an allocation.
     *
     * @param provider accounts for the allocation
     * @param mapping closed with the allocation; null for none
     * @param owner keeps imported memory valid, retained meanwhile; null for none
     */
    ForeignMemory(DriverMemory allocation, StreamSlabs provider, @Nullable Arena mapping, @Nullable RefCounted owner) {
        this.allocation = allocation;
        this.provider = provider;
        this.mapping = mapping;
        this.owner = owner;
    }

    DriverMemory allocation() {
        return allocation;
    }

    /**
     * Creates the buffer that owns this allocation; frees the allocation on failure.
     *
     * @param copies views of a constant for calls writing into the constant; null for other memory
     */
    Buffer buffer(
            StreamDevice device,
            MemoryKind kind,
            BufferParams params,
            StreamStorage storage,
            @Nullable ConstantViews<ConstantCopy> copies) {
        boolean retained = false;
        try {
            if (owner != null) {
                owner.retain();
            }
            retained = true;
            return StreamBuffer.foreign(device, kind, params, storage, this, copies);
        } catch (RuntimeException | Error e) {
            free();
            if (retained && owner != null) {
                owner.release();
            }
            throw e;
        }
    }

    @Override
    public void retain() {
        throw new IllegalStateException("foreign memory has a single buffer");
    }

    @Override
    public void release() {
        free();
        if (owner != null) {
            owner.release();
        }
    }

    private void free() {
        if (mapping != null) {
            mapping.close();
        }
        allocation.close();
        provider.returned();
    }
}

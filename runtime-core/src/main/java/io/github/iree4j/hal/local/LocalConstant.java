package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.ViewedConstant;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.PrivateView;
import io.github.iree4j.nativeaccess.SealedMemory;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;

/** A constant in sealed memory, whose views are private mappings detecting stores. */
final class LocalConstant extends ViewedConstant {
    private final LocalAllocator allocator;
    private final BufferParams params;
    private final HostMemory.Block place; // in the device's budget; never touched, so never backed by pages
    private final SealedMemory memory;

    LocalConstant(LocalAllocator allocator, HostMemory budget, BufferParams params, long size) {
        this.allocator = allocator;
        this.params = params;
        this.place = budget.acquire(params, size);
        try {
            this.memory = SealedMemory.create(size);
        } catch (RuntimeException | Error e) {
            place.release(Frontier.EMPTY);
            throw e;
        }
    }

    @Override
    public MemorySegment writable() {
        return memory.writable();
    }

    @Override
    public Buffer seal() {
        BufferParams constant = new BufferParams(
                params.memoryType(),
                params.usage() | BufferUsage.SHARING_IMMUTABLE,
                MemoryAccess.READ,
                params.affinity(),
                params.minimumAlignment());
        return allocator.importHost(constant, memory.seal(), this);
    }

    @Override
    public View view() {
        PrivateView mapped = SealedMemory.viewOf(memory.bytes());
        if (mapped == null) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, describe() + " is not sealed");
        }
        try (Mapping mapping = new Mapping(mapped)) {
            return new View(allocator.importHost(params, mapped.bytes(), mapping), mapped::isWritten);
        }
    }

    @Override
    protected void destroy() {
        memory.close();
        place.release(Frontier.EMPTY);
    }

    /** The memory of a view, owned by the view's buffer; keeps the constant. */
    private final class Mapping extends Resource {
        private final PrivateView mapped;

        Mapping(PrivateView mapped) {
            this.mapped = mapped;
            LocalConstant.this.retain();
        }

        @Override
        protected void destroy() {
            mapped.close();
            LocalConstant.this.release();
        }

        @Override
        protected String describe() {
            return "view of a " + LocalConstant.this.describe();
        }
    }
}

package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.storage.ConstantViews;
import io.github.iree4j.hal.storage.StoredBuffer;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** An allocation of host memory. */
final class LocalBuffer extends StoredBuffer<HostMemory.Block> {
    private final HostMemory memory;
    private final @Nullable ConstantViews<ConstantView> views; // for a constant that commands may write

    private LocalBuffer(
            HostMemory memory,
            BufferParams params,
            long length,
            @Nullable LocalQueue origin,
            int placement,
            boolean imported,
            @Nullable RefCounted owner) {
        this(memory, params, length, origin, placement, imported, owner, null);
    }

    private LocalBuffer(
            HostMemory memory,
            BufferParams params,
            long length,
            @Nullable LocalQueue origin,
            int placement,
            boolean imported,
            @Nullable RefCounted owner,
            @Nullable ConstantViews<ConstantView> views) {
        super(
                memoryType(params),
                usage(params, imported),
                access(params, imported),
                length,
                HostMemory.Block.NONE,
                origin,
                placement,
                imported,
                owner);
        this.memory = memory;
        this.views = views;
    }

    /** Adds the properties of host memory: the device uses all memory here directly, so every property holds, requested or not. */
    private static int memoryType(BufferParams params) {
        return params.memoryType() | MemoryType.HOST_LOCAL | MemoryType.HOST_CACHED | MemoryType.DEVICE_LOCAL;
    }

    private static int usage(BufferParams params, boolean imported) {
        int usage = params.usage() == 0 ? BufferUsage.DEFAULT : params.usage();
        int mapping = BufferUsage.MAPPING | BufferUsage.MAPPING_PERSISTENT;
        return usage | mapping | (imported ? BufferUsage.TRANSFER_SOURCE : BufferUsage.TRANSFER);
    }

    private static int access(BufferParams params, boolean imported) {
        if (params.access() != 0) {
            return params.access();
        }
        // Allocated immutable memory must still be filled once; imported memory has its contents already.
        boolean constant = imported && (params.usage() & BufferUsage.SHARING_IMMUTABLE) != 0;
        return constant ? MemoryAccess.READ : MemoryAccess.ALL;
    }

    /** Creates an allocation with storage. */
    static LocalBuffer allocated(HostMemory memory, BufferParams params, long length) {
        checkParams(params, length, HostMemory.MAXIMUM_ALIGNMENT);
        LocalBuffer buffer = new LocalBuffer(memory, params, length, null, 0, false, null);
        buffer.commitFirst(memory.acquire(params, length));
        return buffer;
    }

    /** Creates an allocation with storage that holds a copy of the contents. */
    static LocalBuffer copyOf(HostMemory memory, BufferParams params, MemorySegment contents) {
        long length = contents.byteSize();
        checkParams(params, length, HostMemory.MAXIMUM_ALIGNMENT);
        LocalBuffer buffer = new LocalBuffer(memory, params, length, null, 0, false, null);
        HostMemory.Block storage = memory.acquire(params, length);
        try {
            storage.segment.copyFrom(contents);
        } catch (RuntimeException e) {
            storage.release(Frontier.EMPTY);
            throw e;
        }
        buffer.commitFirst(storage);
        return buffer;
    }

    /** Creates an allocation that receives storage from a {@link io.github.iree4j.hal.storage.StorageGrant}. */
    static LocalBuffer reserved(HostMemory memory, BufferParams params, long length, LocalQueue origin, int placement) {
        checkParams(params, length, HostMemory.MAXIMUM_ALIGNMENT);
        return new LocalBuffer(memory, params, length, origin, placement, false, null);
    }

    /** Creates a buffer of imported memory. */
    static LocalBuffer imported(
            HostMemory memory, BufferParams params, MemorySegment bytes, @Nullable RefCounted owner) {
        checkParams(params, bytes.byteSize(), HostMemory.MAXIMUM_ALIGNMENT);
        if (owner != null) {
            owner.retain();
        }
        LocalBuffer buffer = new LocalBuffer(memory, params, bytes.byteSize(), null, 0, true, owner);
        buffer.commitFirst(HostMemory.Block.imported(bytes));
        return buffer;
    }

    /** Creates a constant of a module whose views are used by kernels; the buffer takes ownership of the views. */
    static LocalBuffer constant(
            HostMemory memory, BufferParams params, MemorySegment bytes, ConstantViews<ConstantView> views) {
        checkParams(params, bytes.byteSize(), HostMemory.MAXIMUM_ALIGNMENT);
        LocalBuffer buffer = new LocalBuffer(memory, params, bytes.byteSize(), null, 0, true, views, views);
        buffer.commitFirst(HostMemory.Block.imported(bytes));
        return buffer;
    }

    @Override
    public Device device() {
        return memory.device();
    }

    /** Returns the views of a constant writable by kernels; null where kernels use the storage itself. */
    @Nullable
    ConstantViews<ConstantView> views() {
        return views;
    }

    /**
     * Returns the allocation behind a buffer.
     *
     * @throws IreeException INVALID_ARGUMENT for a buffer of another driver
     */
    static LocalBuffer of(Buffer buffer) {
        if (buffer.allocatedBuffer() instanceof LocalBuffer local) {
            return local;
        }
        throw IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "buffer of " + buffer.length() + " bytes was not created by the local device; import or copy it");
    }

    /** Returns the allocation behind a buffer usable by kernels and transfers: of this driver, or host-visible memory of another driver. */
    static StoredBuffer<?> usable(Buffer buffer) {
        return buffer.allocatedBuffer() instanceof StoredBuffer<?> stored ? stored : of(buffer);
    }

    /** Returns whether transfers of the current thread's call write to a copy; false for buffers of other drivers. */
    static boolean isCopied(Buffer target) {
        return target.allocatedBuffer() instanceof LocalBuffer && isCopiedOnWrite(target);
    }

    @Override
    protected boolean isConstant() {
        return views != null;
    }

    /** Gives the buffer its storage. */
    void commit(HostMemory.Block block) {
        commitStorage(block);
    }

    /**
     * Keeps the storage until {@link #unpin()}, even if the buffer is deallocated or closed meanwhile.
     *
     * @return the storage
     * @throws IreeException FAILED_PRECONDITION without storage; the failure of the allocation
     */
    HostMemory.Block pin() {
        HostMemory.Block block = pinStorage();
        try {
            checkNotFreed(block);
        } catch (IreeException e) {
            unpin();
            throw e;
        }
        return block;
    }

    private void checkNotFreed(HostMemory.Block block) {
        if (isImported() && !block.segment.scope().isAlive()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "memory of imported " + describe() + " has been freed; keep its arena open while the buffer is");
        }
    }

    @Override
    protected HostMemory.Block lent(HostMemory.Block own, @Nullable MemoryHolder call) {
        checkNotFreed(own);
        ConstantView view = views == null ? null : views.seenBy(call);
        return view == null ? own : view.block();
    }

    /**
     * As {@link #pin()}, for reading.
     *
     * @param holder the reading call; null for none
     * @return the storage; for a constant, with the stores of this call
     */
    HostMemory.Block pinFor(@Nullable MemoryHolder holder) {
        HostMemory.Block block = pin();
        ConstantView view = views == null ? null : views.seenBy(holder);
        return view == null ? block : view.block();
    }

    /** Returns whether the owner could free the memory at any time, against the rules; Java detects this on access. */
    boolean isMemoryOfUser() {
        return isImported();
    }

    @Override
    protected void wipe(HostMemory.Block freed) {
        memory.wipe(freed);
    }

    @Override
    protected MemorySegment hostBytes(long offset, long length) {
        HostMemory.Block storage = views == null ? pin() : pinFor(MemoryHolder.current());
        try {
            return storage.segment.asSlice(offset, length);
        } finally {
            unpin();
        }
    }
}

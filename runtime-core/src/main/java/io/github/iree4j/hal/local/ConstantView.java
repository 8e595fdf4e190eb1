package io.github.iree4j.hal.local;

import io.github.iree4j.hal.storage.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.nativeaccess.PrivateView;
import io.github.iree4j.nativeaccess.SealedMemory;
import io.github.iree4j.nativeaccess.SystemCapability;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A call's view of a constant: a private mapping that detects stores, since kernels do not declare their writes. */
final class ConstantView extends ConstantViews.View {
    private static final Logger LOG = LoggerFactory.getLogger(ConstantView.class);

    /** Bytes, no larger than the system's pages. */
    private static final long PAGE = 4096;

    private final PrivateView memory;
    private final HostMemory.Block block;
    private @Nullable SealedMemory sealed; // a copy as the source of other views; guarded by this

    private ConstantView(PrivateView memory) {
        this.memory = memory;
        this.block = HostMemory.Block.imported(memory.bytes());
    }

    /**
     * Creates the views of a constant.
     *
     * @param constant the bytes
     * @param owner keeps the bytes valid; null when not needed
     * @return null for bytes without a mapping, and where the operating system has no views
     */
    static @Nullable ConstantViews<ConstantView> of(MemorySegment constant, @Nullable RefCounted owner) {
        if (!SystemCapability.VIEWS.isPresent() || !SealedMemory.contains(constant)) {
            return null;
        }
        return new ConstantViews<>(
                constant.byteSize(), base -> new ConstantView(view(base == null ? constant : base.sealed())), owner);
    }

    private static PrivateView view(MemorySegment constant) {
        PrivateView memory = SealedMemory.viewOf(constant);
        if (memory == null) {
            throw IreeException.of(
                    StatusCode.INTERNAL, "a constant of %d bytes has lost its memory".formatted(constant.byteSize()));
        }
        return memory;
    }

    /** Returns the view's bytes, copied once to mappable memory. */
    private synchronized MemorySegment sealed() {
        if (sealed == null) {
            SealedMemory copy = SealedMemory.create(memory.bytes().byteSize());
            try {
                copy.writable().copyFrom(memory.bytes());
                copy.seal();
            } catch (RuntimeException | Error e) {
                copy.close();
                throw e;
            }
            sealed = copy;
        }
        return sealed.bytes();
    }

    /**
     * Stores into every page of a range of a view, so that system calls can write the range: a system call fails where
     * a store would make the page writable.
     */
    static void touch(MemorySegment range) {
        long size = range.byteSize();
        for (long at = 0; at < size; at += PAGE - (range.address() + at & PAGE - 1)) {
            range.set(ValueLayout.JAVA_BYTE, at, range.get(ValueLayout.JAVA_BYTE, at));
        }
    }

    HostMemory.Block block() {
        return block;
    }

    @Override
    protected boolean isWritten() {
        return memory.isWritten();
    }

    @Override
    protected boolean tryRestore() {
        try {
            memory.restore();
            return true;
        } catch (IreeException e) {
            LOG.debug("a view of a constant is replaced by a new one", e);
            return false;
        }
    }

    @Override
    protected synchronized void close() {
        memory.close();
        if (sealed != null) {
            sealed.close();
        }
    }
}

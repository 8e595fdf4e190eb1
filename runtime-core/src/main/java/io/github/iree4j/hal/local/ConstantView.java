package io.github.iree4j.hal.local;

import io.github.iree4j.hal.schedule.ConstantViews;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.nativeaccess.PrivateView;
import io.github.iree4j.nativeaccess.SealedMemory;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What kernels see of a constant: a private mapping, which notices stores, since a kernel does not say what it writes. */
final class ConstantView extends ConstantViews.View {
    private static final Logger LOG = LoggerFactory.getLogger(ConstantView.class);

    private final PrivateView memory;
    private final HostMemory.Block block;

    private ConstantView(PrivateView memory) {
        this.memory = memory;
        this.block = HostMemory.Block.imported(memory.bytes());
    }

    /**
     * Makes views of a constant possible.
     *
     * @param constant the bytes
     * @param owner what keeps them; null when nothing needs to
     * @return null when they are not where views can be made of them
     */
    static @Nullable ConstantViews<ConstantView> of(MemorySegment constant, @Nullable RefCounted owner) {
        if (!SealedMemory.contains(constant)) {
            return null;
        }
        return new ConstantViews<>(constant.byteSize(), () -> new ConstantView(view(constant)), owner);
    }

    private static PrivateView view(MemorySegment constant) {
        PrivateView memory = SealedMemory.viewOf(constant);
        if (memory == null) {
            throw new IreeException(
                    StatusCode.INTERNAL, "a constant of %d bytes has lost its memory".formatted(constant.byteSize()));
        }
        return memory;
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
            LOG.debug("a view of a constant is made anew", e);
            return false;
        }
    }

    @Override
    protected void close() {
        memory.close();
    }
}

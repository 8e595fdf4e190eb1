package io.github.iree4j.nativeaccess;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Native memory for one call: its outputs, small input arrays, and its error. Lent by a {@link Pool}; freed by the garbage collector. */
final class NativeScratch {
    /** Bytes of {@link #memory}. */
    static final long SIZE = 2048;

    final MemorySegment memory = Arena.ofAuto().allocate(SIZE, 8);
    final NativeError error = new NativeError();

    /** Throws unless a call returned 0. */
    void check(int status) {
        if (status != 0) {
            throw error.toException(status);
        }
    }

    /** A small pool, so that calls allocate nothing while few threads make them. */
    static final class Pool {
        private final AtomicReference<@Nullable NativeScratch> first = new AtomicReference<>();
        private final AtomicReference<@Nullable NativeScratch> second = new AtomicReference<>();

        NativeScratch take() {
            NativeScratch scratch = first.getAndSet(null);
            if (scratch == null) {
                scratch = second.getAndSet(null);
            }
            return scratch != null ? scratch : new NativeScratch();
        }

        /** Returns one after the call, when its memory is no longer in use. */
        void give(NativeScratch scratch) {
            if (!first.compareAndSet(null, scratch)) {
                second.set(scratch);
            }
        }
    }
}

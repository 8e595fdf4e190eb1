package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.FailureDetail;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Native memory for a single call: outputs, small input arrays, and the error. Lent by a {@link Pool}; freed by the garbage collector. */
public final class NativeScratch {
    /** Bytes of {@link #memory}. */
    public static final long SIZE = 2048;

    /** For outputs and small inputs. */
    public final MemorySegment memory = Arena.ofAuto().allocate(SIZE, 8);
    /** For the error of the call. */
    public final NativeError error;

    private NativeScratch(NativeError error) {
        this.error = error;
    }

    /** Throws unless a call returned 0. */
    public void check(int status) {
        if (status != 0) {
            throw error.toException(status);
        }
    }

    /** A native method with outputs and an error, returning a status. */
    public interface Call {
        /** Makes the call, with the addresses of the outputs and of the error; returns the status. */
        int make(long out, long error);
    }

    /** A small pool, so calls allocate nothing while few threads make calls. */
    public static final class Pool {
        private final AtomicReference<@Nullable NativeScratch> first = new AtomicReference<>();
        private final AtomicReference<@Nullable NativeScratch> second = new AtomicReference<>();

        private final IntFunction<? extends @Nullable FailureDetail> details;

        /** Creates an empty pool. */
        public Pool() {
            this(_ -> null);
        }

        /**
         * Creates an empty pool.
         *
         * @param details returns the detail of the failure of a call by status, null for none
         */
        public Pool(IntFunction<? extends @Nullable FailureDetail> details) {
            this.details = details;
        }

        /** Takes memory for one call. */
        public NativeScratch take() {
            NativeScratch scratch = first.getAndSet(null);
            if (scratch == null) {
                scratch = second.getAndSet(null);
            }
            return scratch != null ? scratch : new NativeScratch(new NativeError(details));
        }

        /** Returns memory after the call, once no longer in use. */
        public void give(NativeScratch scratch) {
            if (!first.compareAndSet(null, scratch)) {
                second.set(scratch);
            }
        }

        /** Makes a call, and returns the first word of the outputs; 0 if not written by the call. */
        public long number(Call method) {
            NativeScratch scratch = take();
            try {
                scratch.memory.set(ValueLayout.JAVA_LONG, 0, 0);
                scratch.check(method.make(scratch.memory.address(), scratch.error.address()));
                return scratch.memory.get(ValueLayout.JAVA_LONG, 0);
            } finally {
                give(scratch);
            }
        }

        /** Makes a call, and returns the result of a function reading the outputs. */
        public <T> T read(Call method, Function<MemorySegment, T> reader) {
            NativeScratch scratch = take();
            try {
                scratch.check(method.make(scratch.memory.address(), scratch.error.address()));
                return reader.apply(scratch.memory);
            } finally {
                give(scratch);
            }
        }
    }
}

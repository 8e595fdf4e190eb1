package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.FailureDetail;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Native memory for the error of a single call at a time: {@code shim_error_t} of {@code shim.h}, 256 bytes.
 *
 * <p>A worker making many calls owns and reuses an error. Not thread-safe: concurrent calls must not share an error.
 * Freed by the garbage collector. Deliberately not thread-local in native code: virtual threads may change carriers
 * between a call and the read of the error.
 */
public final class NativeError {
    private final MemorySegment memory = Arena.ofAuto().allocate(Shim.ERROR_SIZE, 8);
    private final IntFunction<? extends @Nullable FailureDetail> details;

    /** Allocates the memory. */
    public NativeError() {
        this(_ -> null);
    }

    /**
     * Allocates the memory.
     *
     * @param details returns the detail of the failure by status, null for none
     */
    public NativeError(IntFunction<? extends @Nullable FailureDetail> details) {
        this.details = details;
    }

    /** Returns the address for the call. */
    public long address() {
        return memory.address();
    }

    /**
     * The failure of a call that returned {@code status}, other than 0.
     *
     * @return the error written by the call, with this code
     */
    public IreeException toException(int status) {
        return toException(status, details.apply(status));
    }

    /** Like {@link #toException(int)}, with a detail. */
    public IreeException toException(int status, @Nullable FailureDetail detail) {
        byte[] text = memory.asSlice(Shim.ERROR_MESSAGE).toArray(ValueLayout.JAVA_BYTE);
        int length = 0;
        while (length < text.length && text[length] != 0) {
            length++;
        }
        // A message truncated within a character ends with a replacement character.
        String message = new String(text, 0, length, StandardCharsets.UTF_8);
        return IreeException.of(status == 0 ? StatusCode.INTERNAL : StatusCode.of(status), message, null, detail);
    }

    /** Like {@link #toException(int)}, for calls returning a handle and leaving the code in the error. */
    public IreeException toException() {
        return toException(memory.get(ValueLayout.JAVA_INT, 0));
    }
}

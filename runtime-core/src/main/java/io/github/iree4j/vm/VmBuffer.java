package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Bytes addressable by a program, {@code !vm.buffer}.
 *
 * <p>Three kinds: constants of a module (native memory, mapped from the module's file, immutable, valid while the
 * module is open), memory allocated by a program (heap, mutable, initially zero) and host memory. Bytes are
 * little-endian. The object does not order accesses between threads.
 *
 * <p>References are counted. A reference to host memory with an owner retains the owner. Releasing the last reference
 * to a program's memory returns the bytes to the context's budget. Constants need no counting.
 */
@NotForApplications
public final class VmBuffer implements RefCounted {
    /** The longest text to keep, in bytes. */
    private static final long KEPT_TEXT = 256;

    private final MemorySegment segment;
    private final boolean mutable;
    private final boolean constant;
    private final @Nullable RefCounted owner;
    private final @Nullable MemoryBudget budget;
    private final @Nullable AtomicInteger references;
    private @Nullable String text; // text of a constant that is not long, or null; all threads compute the same text

    private VmBuffer(
            MemorySegment segment,
            boolean mutable,
            boolean constant,
            @Nullable RefCounted owner,
            @Nullable MemoryBudget budget) {
        this.segment = mutable ? segment : segment.asReadOnly();
        this.mutable = mutable;
        this.constant = constant;
        this.owner = owner;
        this.budget = budget;
        this.references = budget == null ? null : new AtomicInteger(1);
    }

    /**
     * Creates an immutable buffer of a text.
     *
     * @param text the text
     * @return its UTF-8 bytes
     */
    public static VmBuffer ofUtf8(String text) {
        MemorySegment bytes = MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
        return new VmBuffer(bytes, false, false, null, null);
    }

    /**
     * Creates a buffer over host memory.
     *
     * @param segment the memory; not copied
     * @param mutable whether programs may write the memory
     * @param owner the object keeping the memory valid, retained by each holder of the buffer; null when no owner is
     *     needed
     * @return the buffer
     */
    public static VmBuffer wrap(MemorySegment segment, boolean mutable, @Nullable RefCounted owner) {
        return new VmBuffer(segment, mutable, false, owner, null);
    }

    /**
     * Creates a buffer over a constant of a module.
     *
     * @param segment the memory; not copied
     * @param owner the object keeping the memory valid
     * @return the buffer
     */
    public static VmBuffer constant(MemorySegment segment, @Nullable RefCounted owner) {
        return new VmBuffer(segment, false, true, owner, null);
    }

    /**
     * Allocates zeroed memory for a program.
     *
     * @param length bytes
     * @param budget the budget charged for the bytes until the last reference is released
     * @return the buffer, with one reference owned by the caller
     * @throws IreeException INVALID_ARGUMENT for a negative length, RESOURCE_EXHAUSTED when the budget or the heap does
     *     not suffice
     */
    public static VmBuffer allocate(long length, MemoryBudget budget) {
        if (length < 0) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "buffer of " + length + " bytes");
        }
        if (length > (Integer.MAX_VALUE - 8L) * Long.BYTES) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED, "buffer of " + length + " bytes is too large for the heap");
        }
        budget.reserve(length + MemoryBudget.OBJECT);
        try {
            // An array of longs aligns elements of eight bytes.
            MemorySegment bytes = MemorySegment.ofArray(new long[(int) ((length + Long.BYTES - 1) / Long.BYTES)]);
            return new VmBuffer(bytes.asSlice(0, length), true, false, null, budget);
        } catch (OutOfMemoryError e) {
            budget.release(length + MemoryBudget.OBJECT);
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED, "no heap left for a buffer of " + length + " bytes", e);
        }
    }

    /**
     * Returns the number of bytes.
     *
     * @return bytes
     */
    public long length() {
        return segment.byteSize();
    }

    /**
     * Returns whether programs may write the bytes.
     *
     * @return false for constants
     */
    public boolean isMutable() {
        return mutable;
    }

    /**
     * Returns whether the bytes are part of a module's file and so never change.
     *
     * @return true for constants of modules
     */
    public boolean isModuleConstant() {
        return constant;
    }

    /**
     * Returns whether a program allocated the buffer.
     *
     * @return true for heap memory charged to a context's budget
     */
    public boolean isAllocatedByProgram() {
        return budget != null;
    }

    /**
     * Returns the bytes, read-only if the buffer is immutable. Valid while {@link #owner()} is held.
     *
     * @return the bytes, not copied
     */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Returns the object keeping the bytes valid. A callee using the bytes for longer than the call retains the owner.
     *
     * @return the owner, or null when the bytes are on the heap or need no owner
     */
    public @Nullable RefCounted owner() {
        return owner;
    }

    /**
     * Copies the bytes into a text. Constants of modules are mostly names passed at every call, so the text of a short
     * constant is kept.
     *
     * @return the bytes decoded as UTF-8, malformed sequences replaced
     */
    public String utf8() {
        String kept = text;
        if (kept != null) {
            return kept;
        }
        String made = new String(segment.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        if (constant && segment.byteSize() <= KEPT_TEXT) {
            text = made;
        }
        return made;
    }

    @Override
    public void retain() {
        if (references != null) {
            references.incrementAndGet();
        } else if (owner != null && !constant) {
            owner.retain();
        }
    }

    @Override
    public void release() {
        if (references != null) {
            int left = references.decrementAndGet();
            if (left == 0 && budget != null) {
                budget.release(length() + MemoryBudget.OBJECT);
            } else if (left < 0) {
                throw IreeException.of(StatusCode.INTERNAL, this + " is released more often than it was retained");
            }
        } else if (owner != null && !constant) {
            owner.release();
        }
    }

    @Override
    public String toString() {
        return "%s buffer of %d bytes".formatted(constant ? "constant" : mutable ? "mutable" : "immutable", length());
    }
}

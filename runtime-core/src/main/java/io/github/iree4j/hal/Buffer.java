package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Memory used by queue operations and programs: an allocation, or a part of an allocation.
 *
 * <p>The permitted uses are fixed at creation: location ({@link MemoryType}), purpose ({@link BufferUsage}) and access
 * ({@link MemoryAccess}). The object is safe from any thread; the contents are ordered by fences only.
 *
 * <p>An allocation made on a queue ({@link DeviceQueue#alloca}) has storage from the execution of {@code alloca} to the
 * execution of {@link DeviceQueue#dealloca}; before and after, every use fails with FAILED_PRECONDITION.
 */
@NotForApplications
public abstract class Buffer extends Resource {
    /*
     * Ownership of the allocation, in one word:
     *
     *   63..32  31..0
     *   LOANS | OWNERS
     *
     * OWNERS  owners between preserve and discard, the creator included; stays at 0 after the last discard.
     * LOANS   running calls borrowing the allocation.
     *
     * BUF-3: exactly one discard of an allocation is the last, and no discard is the last while the allocation is lent.
     */
    private static final long OWNERS = 0xFFFF_FFFFL;

    private static final long LOAN = 1L << 32;
    private static final VarHandle HOLDS;

    static {
        try {
            HOLDS = MethodHandles.lookup().findVarHandle(Buffer.class, "holds", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** As a length: everything from the offset on. */
    public static final long WHOLE = -1;

    /** As a placement flag: storage comes and goes in queue order. */
    public static final int PLACEMENT_ASYNCHRONOUS = 0x1;

    /** As a placement flag: no single owner knows the last use; see {@link #preserve()}. */
    public static final int PLACEMENT_INDETERMINATE_LIFETIME = 0x2;

    private final int memoryType;
    private final int usage;
    private final int access;
    private final long length;

    @SuppressWarnings("UnusedVariable") // through HOLDS
    private long holds = 1; // the ownership word; of allocations only

    /**
     * Creates a buffer.
     *
     * @param memoryType bits of {@link MemoryType}
     * @param usage bits of {@link BufferUsage}
     * @param access bits of {@link MemoryAccess}
     * @param length bytes
     */
    protected Buffer(int memoryType, int usage, int access, long length) {
        this.memoryType = memoryType;
        this.usage = usage;
        this.access = access;
        this.length = length;
    }

    /**
     * Returns the location of the memory.
     *
     * @return bits of {@link MemoryType}
     */
    public final int memoryType() {
        return memoryType;
    }

    /**
     * Returns the permitted uses of the buffer.
     *
     * @return bits of {@link BufferUsage}
     */
    public final int usage() {
        return usage;
    }

    /**
     * Returns the permitted accesses.
     *
     * @return bits of {@link MemoryAccess}
     */
    public final int access() {
        return access;
    }

    /**
     * Returns the length.
     *
     * @return bytes
     */
    public final long length() {
        return length;
    }

    /**
     * Returns the start of this buffer in the allocation.
     *
     * @return bytes
     */
    public long offset() {
        return 0;
    }

    /**
     * Returns the allocation: this buffer, or the buffer of which this buffer is a part.
     *
     * @return the allocation, borrowed
     */
    public Buffer allocatedBuffer() {
        return this;
    }

    /**
     * Returns the placement of the allocation.
     *
     * @return {@link #PLACEMENT_ASYNCHRONOUS} and {@link #PLACEMENT_INDETERMINATE_LIFETIME} bits
     */
    public int placement() {
        return 0;
    }

    /**
     * Returns the queue of the {@code alloca} of this allocation.
     *
     * @return the queue, borrowed, or null for an allocation made without a queue
     */
    public @Nullable DeviceQueue origin() {
        return null;
    }

    /**
     * Creates a buffer over a part of this buffer.
     *
     * @param offset start of the part in this buffer, bytes
     * @param length bytes, or {@link #WHOLE}
     * @return the part, holding a reference to the allocation; the caller closes the part
     * @throws IreeException OUT_OF_RANGE when the part does not fit
     */
    public final Buffer subspan(long offset, long length) {
        checkLive();
        long resolved = Ranges.check("subspan", offset, length, this.length, "buffer");
        return new BufferSubspan(this, offset() + offset, resolved);
    }

    /**
     * Returns bytes of this buffer for the host to read and write. The bytes are borrowed: valid until the buffer is
     * closed or deallocated. The caller orders its accesses after the writing work by waiting for the fence of the
     * work.
     *
     * @param access bits of {@link MemoryAccess}, as needed by the host
     * @param offset first byte
     * @param length bytes, or {@link #WHOLE}
     * @return the bytes; read-only unless write access was requested
     * @throws IreeException PERMISSION_DENIED when memory type, usage or access of the buffer forbid the mapping,
     *     OUT_OF_RANGE when the range does not fit, FAILED_PRECONDITION when the buffer has no storage or is closed
     */
    public final MemorySegment map(int access, long offset, long length) {
        checkLive();
        require("mapping", MemoryType.HOST_VISIBLE, 0, access);
        if ((usage & (BufferUsage.MAPPING_SCOPED | BufferUsage.MAPPING_PERSISTENT)) == 0) {
            throw IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "mapping needs a buffer with usage MAPPING_SCOPED or MAPPING_PERSISTENT, this one has "
                            + BufferUsage.format(usage));
        }
        long resolved = Ranges.check("mapping", offset, length, this.length, "buffer");
        MemorySegment bytes = allocatedBuffer().hostBytes(offset() + offset, resolved);
        return (access & MemoryAccess.WRITE) == 0 && !bytes.isReadOnly() ? bytes.asReadOnly() : bytes;
    }

    /**
     * Returns whether {@link #map} is allowed. Device memory invisible to the host cannot be mapped; {@link #read} and
     * {@link #write} work there too.
     *
     * @param access bits of {@link MemoryAccess}, as needed by the host
     * @return true if memory type, usage and access of the buffer allow the mapping
     */
    public final boolean isMappable(int access) {
        int needed = access & MemoryAccess.ALL;
        return (memoryType & MemoryType.HOST_VISIBLE) != 0
                && (usage & (BufferUsage.MAPPING_SCOPED | BufferUsage.MAPPING_PERSISTENT)) != 0
                && (this.access & needed) == needed;
    }

    /**
     * Copies bytes of this buffer to the host: directly from host-visible memory, otherwise by a device transfer,
     * awaited by this call. The caller orders the copy after the writing work, as with {@link #map}.
     *
     * @param offset first byte
     * @param target target of the copy; filled completely
     * @throws IreeException PERMISSION_DENIED when the buffer may not be read, or can be neither mapped nor
     *     transferred, OUT_OF_RANGE when the range does not fit, FAILED_PRECONDITION when the buffer has no storage or
     *     is closed; the failure of the device
     */
    public final void read(long offset, MemorySegment target) {
        checkLive();
        require("reading", 0, 0, MemoryAccess.READ);
        long length = Ranges.check("reading", offset, target.byteSize(), this.length, "buffer");
        if (isMappable(MemoryAccess.READ)) {
            target.copyFrom(map(MemoryAccess.READ, offset, length));
        } else {
            allocatedBuffer().copyToHost(offset() + offset, target);
        }
    }

    /**
     * Copies host bytes to this buffer: directly to host-visible memory, otherwise by a device transfer, awaited by
     * this call. The caller orders the copy before and after the using work, as with {@link #map}.
     *
     * @param offset first byte
     * @param source the bytes, any memory readable by the calling thread
     * @throws IreeException PERMISSION_DENIED when the buffer may not be written, or can be neither mapped nor
     *     transferred, OUT_OF_RANGE when the bytes do not fit, FAILED_PRECONDITION when the buffer has no storage or is
     *     closed; the failure of the device
     */
    public final void write(long offset, MemorySegment source) {
        checkLive();
        require("writing", 0, 0, MemoryAccess.WRITE);
        long length = Ranges.check("writing", offset, source.byteSize(), this.length, "buffer");
        if (isMappable(MemoryAccess.WRITE)) {
            map(MemoryAccess.WRITE, offset, length).copyFrom(source);
        } else {
            allocatedBuffer().copyFromHost(offset() + offset, source);
        }
    }

    /**
     * Copies bytes of this allocation to the host. Only called for an unmappable allocation, with a range inside the
     * allocation.
     *
     * @param offset first byte
     * @param target target of the copy
     * @throws IreeException PERMISSION_DENIED unless the backend transfers the bytes
     */
    protected void copyToHost(long offset, MemorySegment target) {
        throw denied("reading by the host", "memory type", "HOST_VISIBLE", MemoryType.format(memoryType));
    }

    /**
     * Copies host bytes to this allocation. Only called for an unmappable allocation, with a range inside the
     * allocation.
     *
     * @param offset first byte
     * @param source source of the copy
     * @throws IreeException PERMISSION_DENIED unless the backend transfers the bytes
     */
    protected void copyFromHost(long offset, MemorySegment source) {
        throw denied("writing by the host", "memory type", "HOST_VISIBLE", MemoryType.format(memoryType));
    }

    /**
     * Checks permission for a kind of use.
     *
     * @param what names the use in the message, for example {@code fill target}
     * @param memoryType bits of {@link MemoryType} needed for the use
     * @param usage bits of {@link BufferUsage} needed for the use
     * @param access bits of {@link MemoryAccess} needed for the use
     * @throws IreeException PERMISSION_DENIED naming the needed and the actual bits
     */
    public final void require(String what, int memoryType, int usage, int access) {
        if ((this.memoryType & memoryType) != memoryType) {
            throw denied(what, "memory type", MemoryType.format(memoryType), MemoryType.format(this.memoryType));
        }
        if ((this.usage & usage) != usage) {
            throw denied(what, "usage", BufferUsage.format(usage), BufferUsage.format(this.usage));
        }
        int needed = access & MemoryAccess.ALL;
        if ((this.access & needed) != needed) {
            throw denied(what, "access", MemoryAccess.format(needed), MemoryAccess.format(this.access));
        }
    }

    private static IreeException denied(String what, String kind, String needed, String actual) {
        return IreeException.of(
                StatusCode.PERMISSION_DENIED,
                "%s needs a buffer with %s %s, this one has %s".formatted(what, kind, needed, actual));
    }

    /**
     * Checks a range of this buffer.
     *
     * @param what names the range in the message
     * @param offset first byte
     * @param length bytes, or {@link #WHOLE}
     * @return the length in bytes
     * @throws IreeException OUT_OF_RANGE naming range and length of the buffer
     */
    public final long checkRange(String what, long offset, long length) {
        return Ranges.check(what, offset, length, this.length, "buffer");
    }

    /**
     * Adds a loan of the allocation to a program: until {@link #endLoan()} no program can deallocate the allocation,
     * however often programs preserve and discard. Loans are counted.
     */
    public final void lend() {
        allocatedBuffer().addLoans(LOAN);
    }

    /** Ends a loan begun by {@link #lend()}. */
    public final void endLoan() {
        allocatedBuffer().addLoans(-LOAN);
    }

    /**
     * Adds an owner of the allocation; the owner will {@link #discard()} the allocation. For programs; not a reference
     * to the object.
     *
     * @throws IreeException RESOURCE_EXHAUSTED for more owners than can be counted
     */
    public final void preserve() {
        Buffer allocation = allocatedBuffer();
        long h;
        do {
            h = allocation.holdsAcquire();
            if ((h & OWNERS) == OWNERS) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        describe() + " is preserved " + OWNERS + " times; discard it as often");
            }
        } while (!allocation.casHolds(h, h + 1));
    }

    /**
     * Removes an owner of the allocation.
     *
     * @return true for the last owner: the allocation may be deallocated now; never while the allocation is lent, when
     *     one owner stays
     */
    public final boolean discard() {
        Buffer allocation = allocatedBuffer();
        while (true) {
            long h = allocation.holdsAcquire();
            long owners = h & OWNERS;
            boolean lent = h >= LOAN;
            // An allocation without another preserve stays at 0; below 0, a second "last" owner would deallocate twice.
            if (owners == 0 || owners == 1 && lent) {
                return false;
            }
            if (allocation.casHolds(h, h - 1)) {
                return owners == 1; // BUF-3
            }
        }
    }

    /**
     * Returns whether exactly one owner of the allocation is left.
     *
     * @return true if the next {@link #discard()} is the last; false while the allocation is lent
     */
    public final boolean isTerminal() {
        return allocatedBuffer().holdsAcquire() == 1;
    }

    /**
     * Returns whether the allocation is lent, or preserved by owners other than the deallocating owner. If so, the
     * allocation stays until the last discard or the release of the last reference.
     *
     * @return true if there is more than one owner
     */
    protected final boolean isPreservedByOthers() {
        return allocatedBuffer().holdsAcquire() > 1;
    }

    private long holdsAcquire() {
        return (long) HOLDS.getAcquire(this);
    }

    private boolean casHolds(long expected, long next) {
        return HOLDS.compareAndSet(this, expected, next);
    }

    private void addLoans(long loans) {
        HOLDS.getAndAdd(this, loans);
    }

    /**
     * Returns bytes of this allocation. Only called on allocations with host-visible memory, with a range inside the
     * allocation.
     *
     * @param offset first byte
     * @param length bytes
     * @return the bytes, read-only if the memory is
     * @throws IreeException FAILED_PRECONDITION when there is no storage
     */
    protected abstract MemorySegment hostBytes(long offset, long length);

    @Override
    protected String describe() {
        return "buffer of " + length + " bytes";
    }
}

package io.github.iree4j.hal;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Memory that queue operations and programs use: an allocation, or a part of one.
 *
 * <p>What may be done with it is fixed when it is created: where it lies ({@link MemoryType}), what it is for ({@link BufferUsage})
 * and how it may be accessed ({@link MemoryAccess}). The object is safe from any thread; its contents are ordered by fences only.
 *
 * <p>An allocation made on a queue ({@link DeviceQueue#alloca}) has its storage from the execution of that operation to the
 * execution of {@link DeviceQueue#dealloca}; before and after, every use fails with FAILED_PRECONDITION.
 */
public abstract class Buffer extends Resource {
    /*
     * Ownership of the allocation, in one word:
     *
     *   63..32  31..0
     *   LOANS | OWNERS
     *
     * OWNERS  owners that have preserved it and will discard it, its creator included; stays at 0 after the last discard.
     * LOANS   calls under way that borrow it.
     *
     * BUF-3: exactly one discard of an allocation is the last, and none is while the allocation is lent.
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

    /** As a placement flag: no single owner knows when the last use is; see {@link #preserve()}. */
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
     * Returns where the memory lies.
     *
     * @return bits of {@link MemoryType}
     */
    public final int memoryType() {
        return memoryType;
    }

    /**
     * Returns what the buffer may be used for.
     *
     * @return bits of {@link BufferUsage}
     */
    public final int usage() {
        return usage;
    }

    /**
     * Returns how the buffer may be accessed.
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
     * Returns where this buffer starts in its allocation.
     *
     * @return bytes
     */
    public long offset() {
        return 0;
    }

    /**
     * Returns the allocation that this buffer is, or is a part of.
     *
     * @return the allocation, borrowed
     */
    public Buffer allocatedBuffer() {
        return this;
    }

    /**
     * Returns how the allocation was made.
     *
     * @return {@link #PLACEMENT_ASYNCHRONOUS} and {@link #PLACEMENT_INDETERMINATE_LIFETIME} bits
     */
    public int placement() {
        return 0;
    }

    /**
     * Returns the queue whose {@code alloca} made this allocation.
     *
     * @return the queue, borrowed, or null for an allocation that was not made on a queue
     */
    public @Nullable DeviceQueue origin() {
        return null;
    }

    /**
     * Creates a buffer over a part of this one.
     *
     * @param offset where it starts in this buffer, bytes
     * @param length bytes, or {@link #WHOLE}
     * @return the part, which keeps the allocation alive; the caller closes it
     * @throws IreeException OUT_OF_RANGE when it does not fit
     */
    public final Buffer subspan(long offset, long length) {
        checkLive();
        long resolved = Ranges.check("subspan", offset, length, this.length, "buffer");
        return new BufferSubspan(this, offset() + offset, resolved);
    }

    /**
     * Returns bytes of this buffer for the host to read and write. They are borrowed: valid until the buffer is closed or
     * deallocated, and the caller orders its accesses after the work that writes them by waiting for that work's fence.
     *
     * @param access bits of {@link MemoryAccess} that the host needs
     * @param offset first byte
     * @param length bytes, or {@link #WHOLE}
     * @return the bytes; read-only unless write access was requested
     * @throws IreeException PERMISSION_DENIED when memory type, usage or access of the buffer forbid it, OUT_OF_RANGE when it does
     *     not fit, FAILED_PRECONDITION when the buffer has no storage or is closed
     */
    public final MemorySegment map(int access, long offset, long length) {
        checkLive();
        require("mapping", MemoryType.HOST_VISIBLE, 0, access);
        if ((usage & (BufferUsage.MAPPING_SCOPED | BufferUsage.MAPPING_PERSISTENT)) == 0) {
            throw new IreeException(
                    StatusCode.PERMISSION_DENIED,
                    "mapping needs a buffer with usage MAPPING_SCOPED or MAPPING_PERSISTENT, this one has "
                            + BufferUsage.format(usage));
        }
        long resolved = Ranges.check("mapping", offset, length, this.length, "buffer");
        MemorySegment bytes = allocatedBuffer().hostBytes(offset() + offset, resolved);
        return (access & MemoryAccess.WRITE) == 0 && !bytes.isReadOnly() ? bytes.asReadOnly() : bytes;
    }

    /**
     * Returns whether {@link #map} is allowed. Device memory that the host does not see cannot be mapped; {@link #read} and {@link #write}
     * work there too.
     *
     * @param access bits of {@link MemoryAccess} that the host needs
     * @return true if memory type, usage and access of the buffer allow it
     */
    public final boolean isMappable(int access) {
        int needed = access & MemoryAccess.ALL;
        return (memoryType & MemoryType.HOST_VISIBLE) != 0
                && (usage & (BufferUsage.MAPPING_SCOPED | BufferUsage.MAPPING_PERSISTENT)) != 0
                && (this.access & needed) == needed;
    }

    /**
     * Copies bytes of this buffer to the host: directly where the host sees them, else by a device transfer, which this call awaits. The
     * caller orders it after the work that writes them, as with {@link #map}.
     *
     * @param offset first byte
     * @param target where to; filled completely
     * @throws IreeException PERMISSION_DENIED when the buffer may not be read, or can be neither mapped nor transferred, OUT_OF_RANGE
     *     when it does not fit, FAILED_PRECONDITION when the buffer has no storage or is closed; why the device failed
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
     * Copies host bytes to this buffer: directly where the host sees it, else by a device transfer, which this call awaits. The caller
     * orders it before and after the work that uses them, as with {@link #map}.
     *
     * @param offset first byte
     * @param source the bytes, any memory that the calling thread can read
     * @throws IreeException PERMISSION_DENIED when the buffer may not be written, or can be neither mapped nor transferred, OUT_OF_RANGE
     *     when they do not fit, FAILED_PRECONDITION when the buffer has no storage or is closed; why the device failed
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
     * Copies bytes of this allocation, which cannot be mapped, to the host. Only called with a range that fits.
     *
     * @param offset first byte
     * @param target where to
     * @throws IreeException PERMISSION_DENIED unless the backend transfers them
     */
    protected void copyToHost(long offset, MemorySegment target) {
        throw denied("reading by the host", "memory type", "HOST_VISIBLE", MemoryType.format(memoryType));
    }

    /**
     * Copies host bytes to this allocation, which cannot be mapped. Only called with a range that fits.
     *
     * @param offset first byte
     * @param source where from
     * @throws IreeException PERMISSION_DENIED unless the backend transfers them
     */
    protected void copyFromHost(long offset, MemorySegment source) {
        throw denied("writing by the host", "memory type", "HOST_VISIBLE", MemoryType.format(memoryType));
    }

    /**
     * Checks that the buffer may be used in a certain way.
     *
     * @param what names the use in the message, for example {@code fill target}
     * @param memoryType bits of {@link MemoryType} it needs
     * @param usage bits of {@link BufferUsage} it needs
     * @param access bits of {@link MemoryAccess} it needs
     * @throws IreeException PERMISSION_DENIED naming what is needed and what the buffer has
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
        return new IreeException(
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
     * Notes that a caller lends the allocation to a program: until {@link #endLoan()} no program can deallocate it, whatever it preserves
     * and discards. Loans are counted.
     */
    public final void lend() {
        allocatedBuffer().addLoans(LOAN);
    }

    /** Ends one {@link #lend()}. */
    public final void endLoan() {
        allocatedBuffer().addLoans(-LOAN);
    }

    /**
     * Notes one more owner of the allocation that will {@link #discard()} it. For programs; not a reference to the object.
     *
     * @throws IreeException RESOURCE_EXHAUSTED for more owners than can be counted
     */
    public final void preserve() {
        Buffer allocation = allocatedBuffer();
        long h;
        do {
            h = allocation.holdsAcquire();
            if ((h & OWNERS) == OWNERS) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        describe() + " is preserved " + OWNERS + " times; discard it as often");
            }
        } while (!allocation.casHolds(h, h + 1));
    }

    /**
     * Removes one owner of the allocation.
     *
     * @return true if it was the last: the allocation may be deallocated now; never while it is lent, when one owner stays
     */
    public final boolean discard() {
        Buffer allocation = allocatedBuffer();
        while (true) {
            long h = allocation.holdsAcquire();
            long owners = h & OWNERS;
            boolean lent = h >= LOAN;
            // An allocation that was not preserved again stays at 0; below 0, a second "last" owner would deallocate
            // twice.
            if (owners == 0 || owners == 1 && lent) {
                return false;
            }
            if (allocation.casHolds(h, h - 1)) {
                return owners == 1; // BUF-3
            }
        }
    }

    /**
     * Returns whether one owner of the allocation is left.
     *
     * @return true if the next {@link #discard()} is the last; false while it is lent
     */
    public final boolean isTerminal() {
        return allocatedBuffer().holdsAcquire() == 1;
    }

    /**
     * Returns whether owners other than the deallocating one have preserved the allocation or it is lent, so that it stays until they
     * discard it or its last reference is released.
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
     * Returns bytes of this allocation. Only called on allocations, with a range that fits, when the memory is host-visible.
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

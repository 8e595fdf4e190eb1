package io.github.iree4j.hal.pool;

import com.sun.management.OperatingSystemMXBean;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;

/**
 * Native host memory, aligned to 64 bytes as compiled code expects of every buffer.
 *
 * <p>New memory is zeroed, so a slab is resident from the start; and closing the arena of a slab briefly stops every
 * thread of the JVM. Both are reasons to keep slabs for a while.
 */
@NotForApplications
public final class HostSlabProvider implements SlabProvider {
    /** The minimum alignment of slabs. */
    public static final long ALIGNMENT = 64;

    /*
     * Compiled kernels read outside of their buffers: for operators padding with zeros, the compiler emits loads at
     * out-of-range indices and discards the loaded values. A load just outside of a slab would fault, so a slab lies
     * between pages of zeros.
     */
    static final long MARGIN = 4096;

    private final Source source;

    /** The source of memory. */
    @FunctionalInterface
    public interface Source {
        /**
         * Allocates memory with at least a page of zeros on each side.
         *
         * @param size bytes
         * @param alignment a power of two
         * @param arena frees the memory when closed
         * @return the memory, zeroed and resident
         * @throws IreeException RESOURCE_EXHAUSTED when there is not enough memory
         */
        MemorySegment allocate(long size, long alignment, Arena arena);
    }

    /** Creates a provider of memory allocated by Java. */
    public HostSlabProvider() {
        this(HostSlabProvider::allocated);
    }

    /**
     * Creates a provider.
     *
     * @param source the source of memory
     */
    public HostSlabProvider(Source source) {
        this.source = source;
    }

    private static MemorySegment allocated(long size, long boundary, Arena arena) {
        long lead = Math.max(MARGIN, boundary); // both are powers of two
        try {
            return arena.allocate(lead + size + MARGIN, boundary).asSlice(lead, size);
        } catch (OutOfMemoryError | IllegalArgumentException e) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "the system cannot provide %d bytes of native memory; close buffers or trim pools".formatted(size),
                    e);
        }
    }

    @Override
    public long alignment() {
        return ALIGNMENT;
    }

    /** Memory and swap of the machine or container: a slab is written in full when it is created. */
    @Override
    public long capacity() {
        return Machine.BYTES;
    }

    private static final class Machine {
        static final long BYTES = ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize() + system.getTotalSwapSpaceSize()
                : Long.MAX_VALUE >> 16;
    }

    @Override
    public Slab acquire(long size, long alignment) {
        Arena arena = Arena.ofShared();
        try {
            return new HostSlab(source.allocate(size, Math.max(alignment, ALIGNMENT), arena), arena);
        } catch (RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    @Override
    public void release(Slab slab) {
        ((HostSlab) slab).arena.close();
    }
}

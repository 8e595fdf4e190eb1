package io.github.iree4j.hal.local;

import com.sun.management.OperatingSystemMXBean;
import io.github.iree4j.hal.AllocatorStatistics;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Native memory of one local device: blocks at 64-byte boundaries.
 *
 * <p>Closing a shared arena stops every thread of the JVM for a moment, and allocating from one fills with zeros, so blocks are kept
 * for reuse. Sizes are rounded up to four steps per power of two (at most a quarter is lost). Small blocks are cut from slabs and
 * stay cut; a large one has an arena of its own, and up to {@link #CACHED_BYTES_LIMIT} of them are kept. Blocks outlive
 * {@link #close()} until they are released. Safe from any thread.
 */
final class HostMemory {
    /** What compiled code expects of every buffer. */
    static final long ALIGNMENT = 64;

    /** The largest alignment that can be asked for: a huge page. */
    static final long MAXIMUM_ALIGNMENT = 2 << 20;

    /** Blocks up to this size are cut from slabs. A guess, not measured. */
    private static final long SMALL_LIMIT = 256 << 10;

    /** Size of a slab. A guess, not measured. */
    private static final long SLAB_SIZE = 2 << 20;

    /** Bytes of large blocks kept for reuse. A guess, not measured. */
    private static final long CACHED_BYTES_LIMIT = 256L << 20;

    private final Object lock = new Object();
    private final long limit;
    // Everything below is guarded by lock.
    private final Map<Long, ArrayDeque<Block>> free = new HashMap<>(); // large blocks by size
    private final @Nullable Block[] freeSmall =
            new @Nullable Block[(int) index(SMALL_LIMIT) + 1]; // heads of chains by size class
    private final List<Arena> slabs = new ArrayList<>();
    private @Nullable MemorySegment slab; // the one being cut
    private long slabUsed;
    private long live;
    private long liveBlocks;
    private long peak;
    private long cached;
    private long reserved;
    private long allocations;
    private long frees;
    private boolean closed;

    HostMemory(long limit) {
        this.limit = limit;
    }

    /**
     * Memory of the machine, or of the container if that is less, beside the Java heap. Nothing else stops a program that asks for
     * more than there is: the system gives out memory that it does not have and kills the process that touches it.
     */
    static long available() {
        long heap = Runtime.getRuntime().maxMemory();
        long all = ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : heap * 4; // the heap's usual share
        return Math.max(all - heap, all / 4);
    }

    /** A piece of native memory. Whoever acquired it releases it once. */
    static final class Block {
        final MemorySegment segment;
        final long address;
        private final long size;
        private final @Nullable Arena arena; // its own, or null when cut from a slab
        private final boolean reusable;
        private @Nullable Block next;

        private Block(MemorySegment segment, @Nullable Arena arena, boolean reusable) {
            this.segment = segment;
            this.address = segment.address();
            this.size = segment.byteSize();
            this.arena = arena;
            this.reusable = reusable;
        }

        /** In place of a block where there is none yet. */
        static final Block NONE = imported(MemorySegment.NULL);

        /** A block that is not ours: memory of the host that a buffer was made of. */
        static Block imported(MemorySegment segment) {
            return new Block(segment, null, false);
        }
    }

    /**
     * Gives out memory with undefined contents.
     *
     * @throws IreeException RESOURCE_EXHAUSTED over the limit or when the system has no more, FAILED_PRECONDITION when closed
     */
    Block acquire(long size, long alignment) {
        long rounded = roundUp(size);
        List<Block> unused = List.of();
        synchronized (lock) {
            if (closed) {
                throw new IreeException(
                        StatusCode.FAILED_PRECONDITION, "device is closed and allocates no more memory");
            }
            if (rounded < 0 || rounded > limit - live) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "allocation of %d bytes exceeds the device's memory limit: %d of %d bytes are in use; close buffers or raise the limit"
                                .formatted(size, live, limit));
            }
            Block block = null;
            if (alignment <= ALIGNMENT) {
                block = reuse(rounded);
                if (block == null && rounded <= SMALL_LIMIT) {
                    block = cut(rounded);
                }
            }
            live += rounded;
            peak = Math.max(peak, live);
            liveBlocks++;
            allocations++;
            if (block != null) {
                return block;
            }
            if (reserved > limit - rounded) {
                unused = takeCached();
            }
            reserved += rounded;
        }
        unused.forEach(HostMemory::closeArena);
        try {
            // Zeroing a large block takes long, so not under the lock.
            Arena arena = Arena.ofShared();
            return new Block(allocate(arena, rounded, Math.max(alignment, ALIGNMENT)), arena, alignment <= ALIGNMENT);
        } catch (IreeException e) {
            synchronized (lock) {
                live -= rounded;
                liveBlocks--;
                allocations--;
                reserved -= rounded;
                closeSlabsIfLast();
            }
            throw e;
        }
    }

    /** Takes a block back. */
    void release(Block block) {
        Arena unused = null;
        synchronized (lock) {
            live -= block.size;
            liveBlocks--;
            frees++;
            if (block.arena == null) {
                int index = (int) index(block.size);
                block.next = freeSmall[index];
                freeSmall[index] = block;
            } else if (!closed && block.reusable && cached + block.size <= CACHED_BYTES_LIMIT) {
                free.computeIfAbsent(block.size, size -> new ArrayDeque<>()).push(block);
                cached += block.size;
            } else {
                unused = block.arena;
                reserved -= block.size;
            }
            closeSlabsIfLast();
        }
        if (unused != null) {
            unused.close();
        }
    }

    /** Gives large blocks that nobody uses back to the system. */
    void trim() {
        List<Block> unused;
        synchronized (lock) {
            unused = takeCached();
        }
        unused.forEach(HostMemory::closeArena);
    }

    /** Gives out nothing more; memory goes back to the system as blocks are released. */
    void close() {
        List<Block> unused;
        synchronized (lock) {
            closed = true;
            unused = takeCached();
            closeSlabsIfLast();
        }
        unused.forEach(HostMemory::closeArena);
    }

    AllocatorStatistics statistics() {
        synchronized (lock) {
            return new AllocatorStatistics(live, peak, reserved, limit, allocations, frees);
        }
    }

    /** Under the lock. */
    private @Nullable Block reuse(long size) {
        if (size <= SMALL_LIMIT) {
            int index = (int) index(size);
            Block block = freeSmall[index];
            if (block != null) {
                freeSmall[index] = block.next;
                block.next = null;
            }
            return block;
        }
        ArrayDeque<Block> blocks = free.get(size);
        Block block = blocks == null ? null : blocks.poll();
        if (block != null) {
            cached -= block.size;
        }
        return block;
    }

    /** Under the lock: cuts a small block. What is left of a slab too small for it is left. */
    private Block cut(long size) {
        MemorySegment current = slab;
        if (current == null || current.byteSize() - slabUsed < size) {
            Arena arena = Arena.ofShared();
            current = allocate(arena, SLAB_SIZE, ALIGNMENT);
            slabs.add(arena);
            slab = current;
            slabUsed = 0;
            reserved += SLAB_SIZE;
        }
        Block block = new Block(current.asSlice(slabUsed, size), null, true);
        slabUsed += size;
        return block;
    }

    /** Makes native memory; closes the arena when there is none. */
    private static MemorySegment allocate(Arena arena, long size, long alignment) {
        try {
            return arena.allocate(size, alignment);
        } catch (OutOfMemoryError | IllegalArgumentException e) {
            arena.close();
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "the system has no %d bytes of native memory; close buffers".formatted(size),
                    e);
        }
    }

    /** Under the lock. */
    private List<Block> takeCached() {
        List<Block> unused = new ArrayList<>();
        free.values().forEach(unused::addAll);
        free.clear();
        reserved -= cached;
        cached = 0;
        return unused;
    }

    /** Under the lock. */
    private void closeSlabsIfLast() {
        if (closed && liveBlocks == 0 && !slabs.isEmpty()) {
            slabs.forEach(Arena::close);
            reserved -= slabs.size() * SLAB_SIZE;
            slabs.clear();
            slab = null;
            Arrays.fill(freeSmall, null);
        }
    }

    private static void closeArena(Block block) {
        if (block.arena != null) {
            block.arena.close();
        }
    }

    /** Rounds to a size class; negative when that overflows. */
    static long roundUp(long size) {
        if (size <= ALIGNMENT) {
            return ALIGNMENT;
        }
        long step = Math.max(ALIGNMENT, Long.highestOneBit(size - 1) >> 2);
        return (size + step - 1) & -step;
    }

    /** Number of the class of a rounded size: 64, 128, 192, 256, 320, ... */
    static long index(long rounded) {
        int log = 63 - Long.numberOfLeadingZeros(rounded);
        if (log < 8) {
            return (rounded >> 6) - 1; // 64, 128, 192
        }
        return 3 + (long) (log - 8) * 4 + ((rounded - (1L << log)) >> (log - 2));
    }
}

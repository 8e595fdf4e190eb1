package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Staging memory: visible to host and device, for bytes that only one of them sees. {@value #SLOTS} slots of {@value #SLOT}
 * bytes, lent for one transfer each; small transfers share a slot. A requester that finds none waits in line, so a device's
 * staging memory is bounded, regardless of the number of transfers. Allocated from the driver on first use. Safe from any thread.
 *
 * <p>Lent only to operations that are being issued: those end by themselves, so every wait ends.
 */
final class Staging {
    /** Bytes of a slot, and the most that is lent at once. */
    static final int SLOT = 1 << 20;

    private static final int SLOTS = 16;

    /** Alignment of leases. */
    private static final int ALIGNMENT = 256;

    /*
     * STAGE-1: bytes are lent to one borrower at a time: a slot is reused once all of its leases are closed.
     * STAGE-2: a requester in line gets its bytes, or has left: returned bytes are offered to the line under the same lock.
     */
    private final Source source;
    private final ArrayDeque<Slot> free = new ArrayDeque<>();
    private final ArrayDeque<Request> line = new ArrayDeque<>();
    private StreamMemory.@Nullable Block memory;
    private @Nullable Slot shared; // small transfers go into it until it is full
    private int lent;
    private boolean closed;

    /** The source of its memory. */
    @FunctionalInterface
    interface Source {
        /**
         * Allocates memory that is visible to the host and the device.
         *
         * @param size bytes
         * @throws IreeException RESOURCE_EXHAUSTED when there is not enough
         */
        StreamMemory.Block take(long size);
    }

    private static final class Slot {
        final long offset;
        int used; // bytes from its start
        int users;

        Slot(long offset) {
            this.offset = offset;
        }
    }

    /** Lent bytes. The first call of close() returns them. */
    final class Lease implements AutoCloseable {
        final StreamStorage storage;
        private final Slot slot;
        private final AtomicBoolean over = new AtomicBoolean();

        private Lease(Slot slot, StreamStorage storage) {
            this.slot = slot;
            this.storage = storage;
        }

        @Override
        public void close() {
            if (over.compareAndSet(false, true)) {
                giveBack(slot);
            }
        }
    }

    /** A request in line. */
    private record Request(int size, Consumer<Lease> granted) {}

    /** Creates a ring without memory. */
    Staging(Source source) {
        this.source = source;
    }

    /** Creates a ring in the memory of a device. */
    static Staging of(StreamMemory memory) {
        MemoryKind kind = memory.kinds().readback(); // cached: the host reads and writes it
        return new Staging(size -> memory.takeBlock(size, kind));
    }

    /**
     * Lends bytes if some are free and the line is empty.
     *
     * @param size how many, up to {@link #SLOT}
     * @return null when none are free, or no memory is allocated yet
     */
    synchronized @Nullable Lease tryLease(int size) {
        return memory != null && line.isEmpty() ? find(size) : null;
    }

    /**
     * Lends bytes as soon as some are free.
     *
     * @param size how many, up to {@link #SLOT}
     * @param granted notified once, at once if some are free, as a callback of {@link HeldCallbacks}
     * @return a cancellation that leaves the line
     * @throws IreeException RESOURCE_EXHAUSTED when the device has no memory for that; FAILED_PRECONDITION when it is closed
     */
    Cancellation lease(int size, Consumer<Lease> granted) {
        Request request = new Request(size, granted);
        Lease lease;
        synchronized (this) {
            open();
            lease = line.isEmpty() ? find(size) : null;
            if (lease == null) {
                line.add(request);
            }
        }
        if (lease != null) {
            HeldCallbacks.run(() -> granted.accept(lease));
            return Cancellation.OVER;
        }
        return () -> {
            synchronized (this) {
                return line.remove(request);
            }
        };
    }

    /** Under the lock: allocates the memory: all slots, or as many as there is room for. */
    private void open() {
        if (closed) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, "device is closed");
        }
        int slots = SLOTS;
        while (memory == null) {
            try {
                memory = source.take((long) slots * SLOT);
            } catch (IreeException e) {
                if (e.code() != StatusCode.RESOURCE_EXHAUSTED || slots == 1) {
                    throw e;
                }
                slots = 1;
                continue;
            }
            for (int i = 0; i < slots; i++) {
                free.add(new Slot((long) i * SLOT));
            }
        }
    }

    /** Under the lock: lends bytes of the shared slot, or of the next one. */
    private @Nullable Lease find(int size) {
        Slot slot = shared;
        if (slot == null || slot.used + size > SLOT) {
            Slot next = free.poll();
            if (next == null) {
                return null;
            }
            // The old shared slot is returned by its last user; it has one, otherwise it would have been reset.
            slot = next;
            shared = next;
        }
        StreamStorage all = Objects.requireNonNull(memory).storage();
        long offset = slot.offset + slot.used;
        slot.used = Math.min(SLOT, slot.used + size + ALIGNMENT - 1 & -ALIGNMENT);
        slot.users++; // STAGE-1
        lent++;
        return new Lease(slot, all.part(offset, size));
    }

    private void giveBack(Slot slot) {
        ArrayDeque<Runnable> due = new ArrayDeque<>();
        StreamMemory.Block unused = null;
        synchronized (this) {
            lent--;
            if (--slot.users == 0) {
                slot.used = 0;
                if (slot != shared) {
                    free.add(slot);
                }
                for (Request first; (first = line.peek()) != null; ) { // STAGE-2
                    Lease lease = find(first.size);
                    if (lease == null) {
                        break;
                    }
                    line.remove();
                    Request served = first;
                    due.add(() -> served.granted.accept(lease));
                }
            }
            if (closed && lent == 0) {
                unused = memory;
                memory = null;
            }
        }
        due.forEach(HeldCallbacks::run);
        release(unused);
    }

    /** Frees the memory once nothing is lent any more. */
    void close() {
        StreamMemory.Block unused = null;
        synchronized (this) {
            closed = true;
            if (lent == 0) {
                unused = memory;
                memory = null;
            }
        }
        release(unused);
    }

    private static void release(StreamMemory.@Nullable Block unused) {
        if (unused != null) {
            unused.giveBack().run();
        }
    }
}

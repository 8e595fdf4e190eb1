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
 * staging memory is bounded, regardless of the number of transfers. Allocated from the driver for the first requester, on its thread; others
 * wait in line meanwhile. Safe from any thread.
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
     * STAGE-3: the driver is called without the lock, since it may allocate only once the device has done all that it has: the requester
     * that sets `opening` allocates, and serves or refuses the line afterwards.
     */
    private final Source source;
    private final ArrayDeque<Slot> free = new ArrayDeque<>();
    private final ArrayDeque<Request> line = new ArrayDeque<>();
    private StreamMemory.@Nullable Block memory;
    private boolean opening; // a requester has the driver allocate it
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
    private record Request(int size, Consumer<Lease> granted, Consumer<IreeException> refused) {}

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
     * Lends bytes as soon as some are free. May take long where there is no memory yet.
     *
     * @param size how many, up to {@link #SLOT}
     * @param granted notified once, at once if some are free, as a callback of {@link HeldCallbacks}
     * @param refused notified instead when no memory can be allocated: RESOURCE_EXHAUSTED when the device has none, FAILED_PRECONDITION when it is
     *     closed meanwhile; as such a callback
     * @return a cancellation that leaves the line
     * @throws IreeException FAILED_PRECONDITION when the device is closed
     */
    Cancellation lease(int size, Consumer<Lease> granted, Consumer<IreeException> refused) {
        Request request = new Request(size, granted, refused);
        Lease lease = null;
        boolean opens;
        synchronized (this) {
            if (closed) {
                throw closed();
            }
            opens = memory == null && !opening;
            opening |= opens;
            if (memory != null && line.isEmpty()) {
                lease = find(size);
            }
            if (lease == null) {
                line.add(request);
            }
        }
        if (lease != null) {
            Lease found = lease;
            HeldCallbacks.run(() -> granted.accept(found));
            return Cancellation.OVER;
        }
        if (opens) {
            open();
        }
        return () -> {
            synchronized (this) {
                return line.remove(request);
            }
        };
    }

    private static IreeException closed() {
        return new IreeException(StatusCode.FAILED_PRECONDITION, "device is closed");
    }

    /** Without the lock: allocates the memory, or refuses who waits for it. */
    private void open() {
        StreamMemory.Block made = null;
        IreeException cause;
        try {
            made = allocate();
            cause = closed(); // if it is by now
        } catch (IreeException e) {
            cause = e;
        } catch (RuntimeException | Error e) {
            cause = new IreeException(StatusCode.INTERNAL, "staging memory is not allocated: " + e, e);
        }
        opened(made, cause);
    }

    /** Allocates all slots, or one where there is no room for all. */
    private StreamMemory.Block allocate() { // STAGE-3
        try {
            return source.take((long) SLOTS * SLOT);
        } catch (IreeException e) {
            if (e.code() != StatusCode.RESOURCE_EXHAUSTED) {
                throw e;
            }
            return source.take(SLOT);
        }
    }

    private void opened(StreamMemory.@Nullable Block made, IreeException otherwise) {
        ArrayDeque<Runnable> due = new ArrayDeque<>();
        StreamMemory.Block unused = null;
        synchronized (this) {
            opening = false;
            if (made == null || closed) {
                unused = made;
                line.forEach(each -> due.add(() -> each.refused.accept(otherwise)));
                line.clear();
            } else {
                memory = made;
                for (long at = 0; at < made.storage().length(); at += SLOT) {
                    free.add(new Slot(at));
                }
                serve(due);
            }
        }
        due.forEach(HeldCallbacks::run);
        release(unused);
    }

    /** Under the lock: lends what is free to the line. */
    private void serve(ArrayDeque<Runnable> due) {
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
                serve(due);
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

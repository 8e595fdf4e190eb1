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
 * Staging memory: visible to host and device, for transfers of bytes visible to only one of the two. {@value #SLOTS}
 * slots of {@value #SLOT} bytes, each lent for a single transfer; small transfers share a slot. A requester waits in
 * line while no bytes are free, so a queue's staging memory is bounded, regardless of the number of transfers. The
 * driver allocates the memory for the first requester, on the requester's thread; other requesters wait in line
 * meanwhile. Safe from any thread.
 *
 * <p>Lent only to operations of a single queue during issue. Such operations end without further requests, so every
 * wait ends; a call of the user among such operations may wait for other queues, with separate staging memory.
 */
final class Staging {
    /** Bytes of a slot, and the maximum size of a lease. */
    static final int SLOT = 1 << 20;

    private static final int SLOTS = 16;

    /** Alignment of leases. */
    private static final int ALIGNMENT = 256;

    /*
     * STAGE-1: bytes are lent to one borrower at a time: a slot is reused once all of the slot's leases are closed.
     * STAGE-2: a requester in line gets the bytes, or has left: returned bytes are offered to the line under the same
     * lock.
     * STAGE-3: the driver is called without the lock, because the driver may delay an allocation until the device has
     * completed all work: the requester setting `opening` allocates, and serves or refuses the line afterwards.
     */
    private final Source source;
    private final ArrayDeque<Slot> free = new ArrayDeque<>();
    private final ArrayDeque<Request> line = new ArrayDeque<>();
    private StreamMemory.@Nullable Block memory;
    private boolean opening; // a requester is in the driver's allocation call
    private @Nullable Slot shared; // slot filled with small transfers until full
    private int lent;
    private boolean closed;

    /** The source of staging memory. */
    @FunctionalInterface
    interface Source {
        /**
         * Allocates memory visible to the host and the device.
         *
         * @param size bytes
         * @throws IreeException RESOURCE_EXHAUSTED when there is not enough memory
         */
        StreamMemory.Block take(long size);
    }

    private static final class Slot {
        final long offset;
        int used; // bytes from the slot's start
        int users;

        Slot(long offset) {
            this.offset = offset;
        }
    }

    /** Lent bytes. The first call of close() returns the bytes. */
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
        MemoryKind kind = memory.kinds().readback(); // cached: the host reads and writes staging memory
        return new Staging(size -> memory.takeBlock(size, kind));
    }

    /**
     * Lends bytes if enough are free and the line is empty.
     *
     * @param size number of bytes, up to {@link #SLOT}
     * @return null when no bytes are free, or no memory is allocated yet
     */
    synchronized @Nullable Lease tryLease(int size) {
        return memory != null && line.isEmpty() ? find(size) : null;
    }

    /**
     * Lends bytes as soon as enough are free. May take long while there is no memory yet.
     *
     * @param size number of bytes, up to {@link #SLOT}
     * @param granted notified once, at once if bytes are free, as a callback of {@link HeldCallbacks}
     * @param refused notified instead when no memory can be allocated: RESOURCE_EXHAUSTED when the device has none,
     *     FAILED_PRECONDITION when the device is closed meanwhile; also as a callback of {@link HeldCallbacks}
     * @return a cancellation leaving the line
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
        return IreeException.of(StatusCode.FAILED_PRECONDITION, "device is closed");
    }

    /** Allocates the memory, or refuses the waiting requests; without the lock. */
    private void open() {
        StreamMemory.Block made = null;
        IreeException cause;
        try {
            made = allocate();
            cause = closed(); // used if the device is closed by now
        } catch (IreeException e) {
            cause = e;
        } catch (RuntimeException | Error e) {
            cause = IreeException.of(StatusCode.INTERNAL, "staging memory is not allocated: " + e, e);
        }
        opened(made, cause);
    }

    /** Allocates all slots, or a single slot where there is no room for all. */
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

    /** Lends free bytes to the line; under the lock. */
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

    /** Lends bytes of the shared slot, or of the next slot; under the lock. */
    private @Nullable Lease find(int size) {
        Slot slot = shared;
        if (slot == null || slot.used + size > SLOT) {
            Slot next = free.poll();
            if (next == null) {
                return null;
            }
            // The last user returns the old shared slot. The old slot has users, otherwise the used bytes would have
            // been reset.
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

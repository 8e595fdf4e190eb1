package io.github.iree4j.hal.stream;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A range of a file in memory, registered with the driver while the parts of a transfer use the range: the hardware
 * reads or writes the file's memory, without a copy by the host. Registered for the first asking part, unregistered
 * after the last part. Staging memory takes the place where the driver refuses, where the system would have to read the
 * file, and while other queues are busy or may run collectives, since drivers may register memory only once the work of
 * all queues has ended. Safe from any thread.
 */
final class FileWindow {
    /** Limit of the bytes of a window. */
    static final long SIZE = 16L << 20;

    /** Number of windows of a queue registered at once. */
    static final int LIMIT = 4;

    /** Minimum length of a transfer worth the registration of the memory, bytes. */
    static final long WORTH = 4L << 20;

    /*
     * STAGE-4: registered memory is unregistered after the last part using the memory, and before the file is released.
     * The driver is called by threads of the window without a lock: registration may take as long as work given to
     * other queues meanwhile.
     *
     * STAGE-5: at most LIMIT windows of a queue are registered, so registered memory is bounded. The end of a
     * registered window needs no other window, since a part asks for the next window when the parts before have been
     * issued.
     */
    private static final Logger LOG = LoggerFactory.getLogger(FileWindow.class);

    private final StreamDevice device;
    private final StreamQueue queue; // of the transfer
    private final HalFile file;
    private final MemorySegment bytes; // whole pages of the driver
    private final long first; // addresses of the pages
    private final long end;

    private final AtomicBoolean asked = new AtomicBoolean();
    private final CompletableFuture<Boolean> known = new CompletableFuture<>(); // whether the memory was registered

    // Guarded by this.
    private int parts; // not over yet
    private @Nullable DriverMemory memory; // while registered

    private FileWindow(StreamQueue queue, HalFile file, MemorySegment bytes) {
        this.device = queue.streamDevice();
        this.queue = queue;
        this.file = file;
        this.bytes = bytes;
        this.first = bytes.address();
        this.end = first + bytes.byteSize();
    }

    /** Windows onto the memory of a single transfer, made from the first byte to the last. */
    static final class Sequence {
        private final StreamQueue queue;
        private final HalFile file;
        private final long length;
        private final @Nullable MemorySegment bytes; // of the transfer; null without windows
        private final long first; // addresses of the whole pages within the transfer: others may own the rest of a page
        private final long end;
        private @Nullable FileWindow last;

        Sequence(StreamQueue queue, HalFile file, long offset, long length) {
            MemorySegment all =
                    length < WORTH || HostImports.obstacle(queue.streamDevice()) != null ? null : file.mapping();
            this.queue = queue;
            this.file = file;
            this.length = length;
            this.bytes = all == null || !all.isNative() ? null : all.asSlice(offset, length);
            long alignment = queue.streamDevice().driver().limits().hostAlignment();
            this.first = bytes == null ? 0 : bytes.address() + alignment - 1 & -alignment;
            this.end = bytes == null ? 0 : bytes.address() + length & -alignment;
        }

        /**
         * Returns staging memory, or the file's own memory, for a part neither exceeding a slot nor crossing a border
         * of windows.
         *
         * @param at first byte of the part in the transfer: the end of the part before
         */
        StagingPiece piece(TransferPlan plan, long at) {
            long left = Math.min(Staging.SLOT, length - at);
            if (bytes == null) {
                return plan.piece(new StagingPiece((int) left));
            }
            long address = bytes.address() + at;
            if (address < first || address >= end) {
                return plan.piece(new StagingPiece((int) (address < first ? Math.min(left, first - address) : left)));
            }
            long border = Math.min(end, (address & -SIZE) + SIZE);
            FileWindow window = last;
            if (window == null || address >= window.end) { // the first part of the next window
                window = new FileWindow(queue, file, bytes.asSlice(at, border - address));
                last = window;
            }
            window.hold();
            int size = (int) Math.min(left, border - address);
            return plan.piece(new StagingPiece(size, window, bytes.asSlice(at, size)));
        }
    }

    private synchronized void hold() {
        parts++;
    }

    /** Returns whether the memory is registered. */
    synchronized boolean isOpen() {
        return memory != null;
    }

    /** Returns whether the memory cannot be registered. */
    boolean isRefused() {
        return !known.getNow(true);
    }

    /** Returns registered bytes, for the hardware. */
    StreamStorage storage(MemorySegment part) {
        DriverMemory registered;
        synchronized (this) {
            registered = Objects.requireNonNull(memory);
        }
        long offset = part.address() - first;
        long address = registered.deviceAddress();
        return new StreamStorage(
                null,
                registered.generation(),
                registered.handle(),
                offset,
                part.byteSize(),
                address == 0 ? 0 : address + offset,
                part);
    }

    /**
     * Registers the memory, for an unfinished part, unless tried before.
     *
     * @param told called with whether the memory is registered, now or later, as a callback of {@link HeldCallbacks};
     *     while not over, the part may then use the memory
     */
    void open(Consumer<Boolean> told) {
        if (asked.compareAndSet(false, true)) {
            begin();
        }
        known.thenAccept(registered -> HeldCallbacks.run(() -> told.accept(registered)));
    }

    private void begin() {
        if (!device.calls().tryEnter()) {
            known.complete(false); // the device is closed
            return;
        }
        boolean begun = false;
        try {
            file.retain();
            begun = true;
        } catch (IreeException e) {
            LOG.debug("{} was closed before it was registered", file, e); // the transfer ends with the file
        } finally {
            if (!begun) {
                device.calls().exit();
                known.complete(false);
            }
        }
        if (begun) {
            CallThreads.forNativeWaits("iree4j-register " + device.id(), this::register)
                    .start();
        }
    }

    private void register() {
        queue.windows().acquireUninterruptibly(); // STAGE-5
        DriverMemory made = null;
        try {
            made = !isOver() && isQuick() ? takeMemory() : null;
        } catch (IreeException e) {
            LOG.debug("{} is copied through staging memory of device '{}': {}", file, device.id(), e.getMessage());
        } catch (RuntimeException | Error e) {
            LOG.error("{} is copied through staging memory of device '{}'", file, device.id(), e);
        }
        boolean used;
        synchronized (this) {
            used = made != null && parts > 0;
            memory = used ? made : null;
        }
        if (!used) {
            unregister(made);
        }
        known.complete(used);
    }

    /** Returns whether registration waits neither for other work of the device, collectives of absent peers among it, nor for the system. */
    private boolean isQuick() {
        return !device.isBusyBeside(queue.stream().queue())
                && !device.hasCollectives()
                && (!bytes.isMapped() || bytes.isLoaded());
    }

    private DriverMemory takeMemory() {
        long size = end - first;
        StreamMemory all = device.memory(); // the pools keep their memory: staging memory will do
        return all.provider()
                .counted(
                        () -> device.driver().importHost(first, size, bytes.isReadOnly()),
                        size,
                        all.kinds().readback());
    }

    private synchronized boolean isOver() {
        return parts == 0;
    }

    /** Ends the use by a part. */
    void end() {
        DriverMemory registered;
        synchronized (this) {
            parts--;
            if (parts > 0 || memory == null) {
                return;
            }
            registered = memory;
            memory = null;
        }
        CallThreads.forNativeWaits("iree4j-unregister " + device.id(), () -> unregister(registered))
                .start();
    }

    private void unregister(@Nullable DriverMemory registered) { // STAGE-4
        try {
            if (registered != null) {
                try {
                    registered.close();
                } finally {
                    device.memory().provider().returned();
                }
            }
            file.release();
        } catch (RuntimeException | Error e) {
            LOG.error("memory of {} could not be unregistered from device '{}'", file, device.id(), e);
        } finally {
            queue.windows().release();
            device.calls().exit();
        }
    }
}

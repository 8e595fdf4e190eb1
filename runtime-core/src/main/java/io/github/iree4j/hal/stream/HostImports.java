package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.schedule.BufferStorage;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Host memory of other devices, as this device uses it: a slab that a pool took from the system is imported once, as a whole, and
 * stays imported until it is returned to the system; other memory is imported while it is used. Read-only memory that the driver does not
 * import is copied while it is used: nobody writes it. Safe from any thread.
 */
final class HostImports implements AutoCloseable {
    private final StreamDevice device;
    private final StreamMemory memory;
    private final List<Import> imports = new ArrayList<>(); // a few: slabs; guarded by this
    private boolean closed; // guarded by this

    /** An import into the driver. */
    private static final class Import {
        final MemorySegment bytes;
        final boolean whole; // a slab, shared by its buffers
        final DriverMemory allocation;
        final long first; // first address of the import
        int uses;

        Import(MemorySegment bytes, boolean whole, DriverMemory allocation, long first) {
            this.bytes = bytes;
            this.whole = whole;
            this.allocation = allocation;
            this.first = first;
        }

        /** Whether it is of this memory, and not of an earlier allocation at that address. */
        boolean is(MemorySegment slab) {
            return whole && bytes.address() == slab.address() && bytes.scope().equals(slab.scope());
        }

        boolean isComplete() {
            return uses == 0 && !(whole && bytes.scope().isAlive());
        }
    }

    HostImports(StreamDevice device, StreamMemory memory) {
        this.device = device;
        this.memory = memory;
    }

    /**
     * Returns why host memory cannot be used in place.
     *
     * @return the missing capability; null when it can
     */
    static @Nullable String obstacle(StreamDevice device) {
        String obstacle = device.driver().hostMemoryObstacle();
        return obstacle == null && device.driver().limits().hostAlignment() == 0
                ? "its driver does not say how imported memory is to be aligned"
                : obstacle;
    }

    /** The same, for memory of a device. */
    static @Nullable String obstacle(StreamDevice device, Device other) {
        if (other.equals(device)) {
            return null;
        }
        String apart =
                other instanceof StreamDevice peer ? device.driver().peerObstacle(peer.driver()) : obstacle(device);
        return apart == null && other instanceof StreamDevice || other.isMemoryOfHost()
                ? apart
                : "the host does not see the memory of device '" + other.id() + "'";
    }

    /**
     * Begins a use.
     *
     * @param storage of another device, pinned until {@link #end}
     * @return the same bytes for this device
     * @throws IreeException UNIMPLEMENTED when the driver cannot; RESOURCE_EXHAUSTED when it is out of memory
     */
    synchronized StreamStorage begin(BufferStorage storage) {
        MemorySegment bytes = Objects.requireNonNull(storage.host());
        MemorySegment slab = storage.hostSlab();
        drop(false);
        Import found = null;
        for (Import each : imports) {
            if (slab != null && each.is(slab)) {
                found = each;
            }
        }
        if (found == null) {
            found = create(slab == null ? bytes : slab, slab != null);
            imports.add(found);
        }
        found.uses++;
        long offset = bytes.address() - found.first;
        long address = found.allocation.deviceAddress();
        return new StreamStorage(
                null,
                found.allocation.generation(),
                found.allocation.handle(),
                offset,
                bytes.byteSize(),
                address == 0 ? 0 : address + offset,
                bytes);
    }

    private Import create(MemorySegment bytes, boolean whole) {
        String obstacle = obstacle(device);
        if (obstacle != null) {
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED,
                    "device '%s' cannot use memory of another device in place: %s; copy it"
                            .formatted(device.id(), obstacle));
        }
        // Drivers import whole pages: those that contain the bytes. Their other bytes are not accessed.
        long alignment = device.driver().limits().hostAlignment();
        long first = bytes.address() & -alignment;
        long end = bytes.address() + Math.max(1, bytes.byteSize()) + alignment - 1 & -alignment;
        MemoryKind kind = memory.kinds().readback();
        try {
            DriverMemory allocation = memory.takeOutside(
                    () -> device.driver().importHost(first, end - first, bytes.isReadOnly()), end - first, kind);
            return new Import(bytes, whole, allocation, first);
        } catch (IreeException e) {
            if (e.code() != StatusCode.UNIMPLEMENTED || !bytes.isReadOnly()) {
                throw e;
            }
            return copied(bytes, kind);
        }
    }

    private Import copied(MemorySegment bytes, MemoryKind kind) {
        DriverMemory allocation = memory.takeOutside(Math.max(1, bytes.byteSize()), kind, false);
        try (Arena arena = Arena.ofConfined()) {
            StreamSlab.bytes(allocation.host(), bytes.byteSize(), arena).copyFrom(bytes);
        }
        return new Import(bytes, false, allocation, bytes.address());
    }

    /** Ends a use: the hardware is done with the memory. */
    synchronized void end(StreamStorage storage) {
        for (Import each : imports) {
            if (each.uses > 0 && storage.isIn(each.allocation.generation())) {
                each.uses--;
                break;
            }
        }
        drop(closed);
    }

    private void drop(boolean all) {
        for (Iterator<Import> each = imports.iterator(); each.hasNext(); ) {
            Import one = each.next();
            if (one.isComplete() || all && one.uses == 0) {
                each.remove();
                one.allocation.close();
                memory.provider().returned();
            }
        }
    }

    /** Releases unused imports. */
    synchronized void trim() {
        drop(true);
    }

    /** Number of imports. */
    synchronized int count() {
        return imports.size();
    }

    /** Releases all imports, those in use once they are unused. */
    @Override
    public synchronized void close() {
        closed = true;
        drop(true);
    }
}

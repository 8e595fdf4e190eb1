package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.storage.BufferStorage;
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
 * Host memory of other devices, as used by this device. A slab taken from the system by a pool is imported once, as a
 * whole, and stays imported until the slab's return; other memory is imported during use. Read-only memory not
 * importable by the driver is copied during use: nobody writes such memory. Safe from any thread.
 */
final class HostImports implements AutoCloseable {
    private final StreamDevice device;
    private final StreamMemory memory;
    private final List<Import> imports = new ArrayList<>(); // a few slabs; guarded by this
    private boolean closed; // guarded by this

    /** An import into the driver. */
    private static final class Import {
        final MemorySegment bytes;
        final boolean whole; // whether a slab shared by several buffers was imported
        final DriverMemory allocation;
        final long first; // first address of the import
        int uses;

        Import(MemorySegment bytes, boolean whole, DriverMemory allocation, long first) {
            this.bytes = bytes;
            this.whole = whole;
            this.allocation = allocation;
            this.first = first;
        }

        /** Returns whether the import is of the given slab, and not of an earlier allocation at the same address. */
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
     * @return the missing capability; null without an obstacle
     */
    static @Nullable String obstacle(StreamDevice device) {
        String obstacle = device.driver().hostMemoryObstacle();
        return obstacle == null && device.driver().limits().hostAlignment() == 0
                ? "its driver does not say how imported memory is to be aligned"
                : obstacle;
    }

    /** Returns why memory of another device cannot be used in place; null without an obstacle. */
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
     * @param storage storage of another device, pinned until {@link #end}
     * @return the same bytes for this device
     * @throws IreeException UNIMPLEMENTED when the driver cannot import; RESOURCE_EXHAUSTED when the driver is out of
     *     memory
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
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "device '%s' cannot use memory of another device in place: %s; copy it"
                            .formatted(device.id(), obstacle));
        }
        // Drivers import the whole pages containing the bytes. Other bytes of the pages are not accessed.
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

    /** Returns the number of imports. */
    synchronized int count() {
        return imports.size();
    }

    /** Releases all imports; an import in use is released after the last use. */
    @Override
    public synchronized void close() {
        closed = true;
        drop(true);
    }
}

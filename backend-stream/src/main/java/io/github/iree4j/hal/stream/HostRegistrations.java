package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Host memory registered with a driver. A driver accepts each page once, for all devices, but imports may overlap: a
 * page stays registered while any import contains the page. Safe from any thread.
 */
public final class HostRegistrations {
    /** A device registering host memory with its driver, for all devices of the driver. */
    public interface Registrar {
        /**
         * Registers pages; the device stays open until the pages are unregistered.
         *
         * @param host first byte
         * @param size bytes
         * @param readOnly whether devices only read the pages
         * @return the pages' address for code of devices
         * @throws IreeException if the driver refuses the pages
         */
        long register(long host, long size, boolean readOnly);

        /**
         * Unregisters pages.
         *
         * @param host first byte
         */
        void unregister(long host);
    }

    /** Pages registered together. */
    private static final class Range {
        final Registrar owner; // the only device able to unregister the pages
        final long first;
        final long end;
        final long address; // of the first byte for code of devices, the same for all devices
        final boolean readOnly;
        int users;

        Range(Registrar owner, long first, long end, long address, boolean readOnly) {
            this.owner = owner;
            this.first = first;
            this.end = end;
            this.address = address;
            this.readOnly = readOnly;
        }
    }

    // Guarded by this.
    private final TreeMap<Long, Range> ranges = new TreeMap<>(); // by first address; ranges do not overlap
    private final ConcurrentSkipListMap<Long, Range> addresses =
            new ConcurrentSkipListMap<>(); // by address for devices; read without the lock, which may wait for the
    // driver

    private volatile boolean split; // whether some import has had several ranges

    /** Creates the registrations of a driver, without memory. */
    public HostRegistrations() {}

    /** Host memory, registered until the import is closed. */
    public final class Import implements AutoCloseable {
        private final List<Range> parts;
        private final long address;

        private Import(List<Range> parts, long address) {
            this.parts = parts;
            this.address = address;
        }

        /**
         * Returns the memory's address for code of devices.
         *
         * @return address of the first byte
         */
        public long address() {
            return address;
        }

        @Override
        public void close() {
            giveBack(parts);
        }
    }

    /**
     * Registers the pages of a range not registered yet.
     *
     * @param device the device that registers the pages
     * @param host first byte, at the beginning of a page
     * @param size bytes of whole pages
     * @param readOnly whether devices only read the range
     * @return the registered memory
     * @throws IreeException if the driver refuses the memory; UNIMPLEMENTED when the range is not contiguous for
     *     devices, or is to be written and has pages registered for reading
     */
    public synchronized Import register(Registrar device, long host, long size, boolean readOnly) {
        List<Range> parts = new ArrayList<>(1);
        boolean done = false;
        try {
            for (long at = host; at < host + size; at = parts.getLast().end) {
                Map.Entry<Long, Range> before = ranges.floorEntry(at);
                Range found = before != null && before.getValue().end > at ? before.getValue() : null;
                if (found == null) {
                    Long next = ranges.ceilingKey(at);
                    found = make(device, at, next == null ? host + size : Math.min(next, host + size), readOnly);
                } else if (found.readOnly && !readOnly) {
                    throw IreeException.of(
                            StatusCode.UNIMPLEMENTED,
                            "%d bytes of the host at 0x%x are to be written, and share a page with memory that is imported to be read; copy the bytes, or keep the imported memory in separate pages"
                                    .formatted(size, host));
                }
                found.users++;
                parts.add(found);
            }
            long address = parts.getFirst().address + (host - parts.getFirst().first);
            for (Range part : parts) {
                if (part.address - part.first != address - host) {
                    throw IreeException.of(
                            StatusCode.UNIMPLEMENTED,
                            "%d bytes of the host at 0x%x overlap imported memory, and are not contiguous for the device; copy them"
                                    .formatted(size, host));
                }
            }
            split |= parts.size() > 1;
            done = true;
            return new Import(parts, address);
        } finally {
            if (!done) {
                giveBack(parts);
            }
        }
    }

    private Range make(Registrar device, long first, long end, boolean readOnly) {
        Range made = new Range(device, first, end, device.register(first, end - first, readOnly), readOnly);
        ranges.put(first, made);
        addresses.put(made.address, made);
        return made;
    }

    private synchronized void giveBack(List<Range> parts) {
        for (Range part : parts) {
            if (--part.users == 0) {
                ranges.remove(part.first);
                addresses.remove(part.address);
                part.owner.unregister(part.first);
            }
        }
    }

    /**
     * Returns the number of bytes from an address that were registered together; drivers neither fill nor copy across
     * the border of a registration.
     *
     * @param address for code of devices
     * @param length bytes at most
     * @return bytes
     */
    public long together(long address, long length) {
        if (!split) {
            return length;
        }
        Map.Entry<Long, Range> found = addresses.floorEntry(address);
        if (found == null) {
            return length;
        }
        Range range = found.getValue();
        long left = range.end - range.first - (address - range.address);
        return left <= 0 ? length : Math.min(left, length);
    }
}

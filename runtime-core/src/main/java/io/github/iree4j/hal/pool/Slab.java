package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import java.util.concurrent.atomic.AtomicInteger;

/** A piece of memory from the system or a driver. Backends extend this class with the data needed to use the memory. */
@NotForApplications
public abstract class Slab {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private final int number = NUMBERS.incrementAndGet();
    private final long size;
    private final long address;

    /**
     * Describes a slab.
     *
     * @param size bytes, above 0
     * @param address the start, for alignment; 0 for memory satisfying every permitted alignment
     */
    protected Slab(long size, long address) {
        this.size = size;
        this.address = address;
    }

    /**
     * Returns a number identifying the slab in this process.
     *
     * @return the number, never reused
     */
    public final int number() {
        return number;
    }

    /**
     * Returns the size of the slab.
     *
     * @return bytes
     */
    public final long size() {
        return size;
    }

    /**
     * Returns the start of the slab.
     *
     * @return the address, or 0
     */
    public final long address() {
        return address;
    }
}

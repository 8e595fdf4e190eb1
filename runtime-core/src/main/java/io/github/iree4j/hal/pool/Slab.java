package io.github.iree4j.hal.pool;

import java.util.concurrent.atomic.AtomicInteger;

/** A piece of memory from the system or a driver. Backends extend it with what they need to use it. */
public abstract class Slab {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private final int number = NUMBERS.incrementAndGet();
    private final long size;
    private final long address;

    /**
     * Describes a slab.
     *
     * @param size bytes, above 0
     * @param address its start, for alignment; 0 for memory that satisfies any alignment that can be requested
     */
    protected Slab(long size, long address) {
        this.size = size;
        this.address = address;
    }

    /**
     * Returns a number that identifies it in this process.
     *
     * @return the number, never reused
     */
    public final int number() {
        return number;
    }

    /**
     * Returns its size.
     *
     * @return bytes
     */
    public final long size() {
        return size;
    }

    /**
     * Returns its start.
     *
     * @return the address, or 0
     */
    public final long address() {
        return address;
    }
}

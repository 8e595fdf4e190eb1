package io.github.iree4j.hal.pool;

/** A piece of memory as it comes from the system or from a driver. Backends add what they need to use it. */
public abstract class Slab {
    private final long size;
    private final long address;

    /**
     * Describes a slab.
     *
     * @param size bytes, above 0
     * @param address where it starts, for alignment; 0 for memory that is aligned to whatever may be asked for
     */
    protected Slab(long size, long address) {
        this.size = size;
        this.address = address;
    }

    /**
     * Returns how much it is.
     *
     * @return bytes
     */
    public final long size() {
        return size;
    }

    /**
     * Returns where it starts.
     *
     * @return the address, or 0
     */
    public final long address() {
        return address;
    }
}

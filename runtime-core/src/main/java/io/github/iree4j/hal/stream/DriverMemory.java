package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicLong;

/** One allocation of the driver, mapped for its lifetime where it is coherently host-visible. The creator closes it once. */
public abstract class DriverMemory implements AutoCloseable {
    private static final AtomicLong GENERATIONS = new AtomicLong();

    // Handles and addresses are reused once they are free; generations are not.
    private final long generation = GENERATIONS.incrementAndGet();
    private final long handle;
    private final long deviceAddress;
    private final long host;

    /**
     * Describes an allocation.
     *
     * @param handle the driver's name for it, which only the driver reads
     * @param deviceAddress address of its first byte for device code; 0 where code uses no addresses
     * @param host host address of its first byte; 0 where it is not host-visible
     */
    protected DriverMemory(long handle, long deviceAddress, long host) {
        this.handle = handle;
        this.deviceAddress = deviceAddress;
        this.host = host;
    }

    final long generation() {
        return generation;
    }

    final long handle() {
        return handle;
    }

    final long deviceAddress() {
        return deviceAddress;
    }

    final long host() {
        return host;
    }

    /**
     * Exports it to other processes and drivers.
     *
     * @return a descriptor of the operating system, which the caller owns
     * @throws IreeException UNIMPLEMENTED when the driver cannot, which is what this method throws unless overridden
     */
    protected int exportDescriptor() {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "the driver exports no memory; copy it through the host");
    }

    /** Frees it. No work uses it any more. */
    @Override
    public abstract void close();
}

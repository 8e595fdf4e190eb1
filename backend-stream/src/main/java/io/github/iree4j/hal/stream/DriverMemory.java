package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** An allocation of the driver, mapped for its lifetime when coherently host-visible. The creator closes the allocation once. */
public abstract class DriverMemory implements AutoCloseable {
    private static final AtomicLong GENERATIONS = new AtomicLong();

    // Handles and addresses are reused after an allocation is freed; generations are not.
    private final long generation = GENERATIONS.incrementAndGet();
    private final long handle;
    private final long deviceAddress;
    private final long host;

    /**
     * Describes an allocation.
     *
     * @param handle the driver's handle of the allocation; only the driver interprets it
     * @param deviceAddress address of the first byte for device code; 0 where code uses no addresses
     * @param host host address of the first byte; 0 for memory that is not host-visible
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
     * Exports the allocation to other processes and drivers.
     *
     * @return a descriptor of the operating system, owned by the caller
     * @throws IreeException UNIMPLEMENTED when the driver cannot export, as thrown by this method unless overridden
     */
    protected int exportDescriptor() {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "the driver exports no memory; copy it through the host");
    }

    /**
     * Creates a view of a constant, for the commands of a call: the constant's bytes, and the writes of these commands
     * only.
     *
     * @param base a view of this constant that no command writes any more, as the source of the first bytes; null for
     *     the constant
     * @return the view, closed by the caller before the constant
     * @throws IreeException UNIMPLEMENTED unless the memory is of {@link StreamDriver#importConstant};
     *     RESOURCE_EXHAUSTED without memory; ABORTED when the device is lost
     */
    protected DriverMemory view(@Nullable DriverMemory base) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "the driver has no views of memory");
    }

    /**
     * Returns whether a command may have written to this view of a constant.
     *
     * @return known once the commands have ended; true unless overridden
     */
    protected boolean isWritten() {
        return true;
    }

    /** Frees the allocation. No work uses the memory any more. */
    @Override
    public abstract void close();
}

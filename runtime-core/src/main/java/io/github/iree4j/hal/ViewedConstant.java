package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.Resource;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;

/**
 * A constant in memory of a device, with views for work that may write the constant in place: for a device serving
 * another process, where the other process decides which work shares a view. {@link Executable#mayWrite} tells which
 * work needs a view. Filled and sealed by one thread, then safe from any thread.
 */
@NotForApplications
public abstract class ViewedConstant extends Resource {

    /** For backends. */
    protected ViewedConstant() {}

    /**
     * A private copy of the constant; where the device notices writes, the copy takes memory where written.
     *
     * @param buffer the view as memory of the device; the caller closes the buffer, ending the view
     * @param written returns whether any work may have written to the view; called while the buffer is open
     */
    public record View(Buffer buffer, BooleanSupplier written) {}

    /**
     * Returns the bytes, to be filled.
     *
     * @return the bytes, writable until {@link #seal}
     */
    public abstract MemorySegment writable();

    /**
     * Makes the constant unchangeable, after the last store.
     *
     * @return the constant as memory of the device, for reading; the caller closes the buffer
     * @throws io.github.iree4j.status.IreeException RESOURCE_EXHAUSTED when the system refuses
     */
    public abstract Buffer seal();

    /**
     * Creates a view of the sealed constant.
     *
     * @return the view
     * @throws io.github.iree4j.status.IreeException RESOURCE_EXHAUSTED without memory or mappings
     */
    public abstract View view();

    @Override
    protected String describe() {
        return "constant of " + writable().byteSize() + " bytes";
    }
}

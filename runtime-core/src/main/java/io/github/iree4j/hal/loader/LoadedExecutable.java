package io.github.iree4j.hal.loader;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.status.IreeException;

/** Code loaded by a loader. {@link #dispatch} is called by several workers concurrently, each with a different worker number. */
public interface LoadedExecutable extends AutoCloseable {
    /** One more than the highest number of a worker. */
    int MAXIMUM_WORKERS = 512;

    /**
     * Returns the number of entry points.
     *
     * @return the count
     */
    int exportCount();

    /**
     * Describes an entry point. Called once, when the executable is created.
     *
     * @param ordinal 0 to {@link #exportCount()} - 1
     * @return the entry point
     */
    ExecutableExport export(int ordinal);

    /**
     * Finds an entry point by name.
     *
     * @param name name of the entry point
     * @return ordinal of the entry point, or -1
     */
    default int lookup(String name) {
        for (int i = 0; i < exportCount(); i++) {
            if (export(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Returns the alignment of bindings required by the code.
     *
     * @return bytes, a power of two; 1 for code without such requirement
     */
    default int bindingAlignment() {
        return 1;
    }

    /**
     * Runs workgroups of a dispatch. Counts have been checked: no count is 0, z is at most 65535, and the numbers of
     * constants and bindings match the declaration of the export. Everything in {@code dispatch} is borrowed for the
     * call.
     *
     * @param export ordinal of the entry point
     * @param dispatch sizes, constants, bindings, and memory to work with
     * @param begin first workgroup, counted x fastest, z slowest
     * @param end number after the last workgroup; at most the product of the counts
     * @param worker the calling worker, 0 to {@link #MAXIMUM_WORKERS} - 1; a worker makes one call at a time
     * @throws IreeException when a workgroup fails
     */
    void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker);

    /** Frees the code. Called once, after the last use. */
    @Override
    void close();
}

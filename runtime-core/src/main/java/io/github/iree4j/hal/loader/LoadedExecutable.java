package io.github.iree4j.hal.loader;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.status.IreeException;

/** Code that a loader has loaded. {@link #dispatch} is called by several workers concurrently, each with its own number. */
public interface LoadedExecutable extends AutoCloseable {
    /** One more than the highest number of a worker. */
    int MAXIMUM_WORKERS = 512;

    /**
     * Returns how many entry points there are.
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
     * @param name its name
     * @return its ordinal, or -1
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
     * Returns the alignment of bindings that the code relies on.
     *
     * @return bytes, a power of two; 1 for code without such requirement
     */
    default int bindingAlignment() {
        return 1;
    }

    /**
     * Runs workgroups of a dispatch. Counts have been checked: none is 0, z is at most 65535, and the numbers of constants and bindings are
     * those that the export declares. Everything in {@code dispatch} is borrowed for the call.
     *
     * @param export ordinal of the entry point
     * @param dispatch sizes, constants, bindings, and memory to work with
     * @param begin first workgroup, counted x fastest, z slowest
     * @param end one after the last workgroup; at most the product of the counts
     * @param worker the calling worker, 0 to {@link #MAXIMUM_WORKERS} - 1; a worker makes one call at a time
     * @throws IreeException when a workgroup fails
     */
    void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker);

    /** Frees the code. Called once, when nothing uses it any more. */
    @Override
    void close();
}

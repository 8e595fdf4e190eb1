package io.github.iree4j.hal.loader;

import java.lang.foreign.MemorySegment;

/** A dispatch as seen by the code of the local device. Belongs to a worker and is valid during a single call. */
public interface HostDispatch {

    /**
     * Returns a number unchanged between this worker's calls while only the range of workgroups changes, so that state
     * derived from the rest can be cached between calls.
     *
     * @return at least 1
     */
    long sequence();

    /**
     * Returns the workgroup size along x.
     *
     * @return at least 1
     */
    int workgroupSizeX();

    /**
     * Returns the workgroup size along y.
     *
     * @return at least 1
     */
    int workgroupSizeY();

    /**
     * Returns the workgroup size along z.
     *
     * @return 1 to 65535
     */
    int workgroupSizeZ();

    /**
     * Returns the number of workgroups along x.
     *
     * @return unsigned 32-bit, not 0
     */
    int workgroupCountX();

    /**
     * Returns the number of workgroups along y.
     *
     * @return unsigned 32-bit, not 0
     */
    int workgroupCountY();

    /**
     * Returns the number of workgroups along z.
     *
     * @return 1 to 65535
     */
    int workgroupCountZ();

    /**
     * Returns the number of workers that may run workgroups of this dispatch concurrently.
     *
     * @return at least 1
     */
    int maxConcurrency();

    /**
     * Returns whether the call of this dispatch was abandoned: code able to stop should fail with CANCELLED.
     *
     * @return false while the results are wanted
     */
    default boolean isUnwanted() {
        return false;
    }

    /**
     * Returns the number of constants.
     *
     * @return the count
     */
    int constantCount();

    /**
     * Returns a constant.
     *
     * @param index 0 to {@link #constantCount()} - 1
     * @return 32 bits
     */
    int constant(int index);

    /**
     * Returns the number of bindings.
     *
     * @return the count
     */
    int bindingCount();

    /**
     * Returns the bytes of a binding. Creates a new segment; code that must not allocate uses {@link #bindingStorage}
     * and {@link #bindingOffset}.
     *
     * @param index 0 to {@link #bindingCount()} - 1
     * @return native memory, borrowed
     */
    MemorySegment binding(int index);

    /**
     * Returns the memory containing a binding.
     *
     * @param index 0 to {@link #bindingCount()} - 1
     * @return native memory, borrowed
     */
    MemorySegment bindingStorage(int index);

    /**
     * Returns the offset of a binding in its storage.
     *
     * @param index 0 to {@link #bindingCount()} - 1
     * @return bytes
     */
    long bindingOffset(int index);

    /**
     * Returns the length of a binding.
     *
     * @param index 0 to {@link #bindingCount()} - 1
     * @return bytes
     */
    long bindingLength(int index);

    /**
     * Returns the worker's memory for workgroups: the length declared by the export plus the length added by the
     * dispatch, page-aligned, with undefined contents.
     *
     * @return native memory, borrowed; empty when no memory is declared
     */
    MemorySegment localMemory();
}

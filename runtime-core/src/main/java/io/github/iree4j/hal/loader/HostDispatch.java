package io.github.iree4j.hal.loader;

import java.lang.foreign.MemorySegment;

/** A dispatch as the code of the local device sees it. Belongs to one worker and is valid during one call. */
public interface HostDispatch {

    /**
     * Returns a number that stays the same for this worker's calls while only the range of workgroups changes, so that state derived from
     * the rest can be cached between calls.
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
     * Returns how many workgroups there are along x.
     *
     * @return unsigned 32-bit, not 0
     */
    int workgroupCountX();

    /**
     * Returns how many workgroups there are along y.
     *
     * @return unsigned 32-bit, not 0
     */
    int workgroupCountY();

    /**
     * Returns how many workgroups there are along z.
     *
     * @return 1 to 65535
     */
    int workgroupCountZ();

    /**
     * Returns how many workers may run workgroups of this dispatch concurrently.
     *
     * @return at least 1
     */
    int maxConcurrency();

    /**
     * Returns whether the call that it belongs to was abandoned: code that can stop should fail with CANCELLED.
     *
     * @return false while the results are wanted
     */
    default boolean isUnwanted() {
        return false;
    }

    /**
     * Returns how many constants there are.
     *
     * @return the count
     */
    int constantCount();

    /**
     * Returns a constant.
     *
     * @param index 0 to {@link #constantCount()} - 1
     * @return its 32 bits
     */
    int constant(int index);

    /**
     * Returns how many bindings there are.
     *
     * @return the count
     */
    int bindingCount();

    /**
     * Returns the bytes of a binding. Creates a new segment; code that must not allocate uses {@link #bindingStorage} and {@link
     * #bindingOffset}.
     *
     * @param index 0 to {@link #bindingCount()} - 1
     * @return native memory, borrowed
     */
    MemorySegment binding(int index);

    /**
     * Returns the memory that contains a binding.
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
     * Returns the worker's memory for workgroups: of the length that the export declares plus what the dispatch adds, page-aligned, with
     * undefined contents.
     *
     * @return native memory, borrowed; empty when none is declared
     */
    MemorySegment localMemory();
}

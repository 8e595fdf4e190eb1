package io.github.iree4j.nativeaccess;

/**
 * A function that a compiled CPU library exports.
 *
 * @param name its name; made up from its ordinal when the library does not say
 * @param constantCount how many 32-bit constants it reads, 0 to 64; -1 when the library does not say
 * @param bindingCount how many bindings it accesses, 0 to 64; -1 when the library does not say
 * @param workgroupSizeX what the compiler recorded, 0 for nothing; it does not influence a call
 * @param workgroupSizeY what the compiler recorded, 0 for nothing
 * @param workgroupSizeZ what the compiler recorded, 0 for nothing
 * @param localMemoryBytes scratch memory that each concurrent call needs, a multiple of 4096
 * @param flags bit 0 sequential, bit 1 dynamic workgroup size
 */
public record CpuExport(
        String name,
        int constantCount,
        int bindingCount,
        int workgroupSizeX,
        int workgroupSizeY,
        int workgroupSizeZ,
        int localMemoryBytes,
        long flags) {
    private static final long SEQUENTIAL = 1;
    private static final long WORKGROUP_SIZE_DYNAMIC = 2;

    /**
     * Returns whether all workgroups must run in order on one thread.
     *
     * @return whether the dispatch may not be split
     */
    public boolean isSequential() {
        return (flags & SEQUENTIAL) != 0;
    }

    /**
     * Returns whether the workgroup size is taken from the dispatch.
     *
     * @return whether the recorded size says nothing
     */
    public boolean isWorkgroupSizeDynamic() {
        return (flags & WORKGROUP_SIZE_DYNAMIC) != 0;
    }
}

package io.github.iree4j.hal;

/**
 * One entry point of an executable.
 *
 * @param name its name
 * @param flags {@link #SEQUENTIAL} and {@link #WORKGROUP_SIZE_DYNAMIC} bits
 * @param constantCount 32-bit constants that every dispatch passes; -1 when the executable does not declare them
 * @param bindingCount buffers that every dispatch binds; -1 when the executable does not declare them
 * @param workgroupSizeX invocations of a workgroup along x as compiled; 0 when unspecified
 * @param workgroupSizeY invocations of a workgroup along y as compiled; 0 when unspecified
 * @param workgroupSizeZ invocations of a workgroup along z as compiled; 0 when unspecified
 * @param localMemorySize bytes of memory that each worker provides while it runs a workgroup
 */
public record ExecutableExport(
        String name,
        int flags,
        int constantCount,
        int bindingCount,
        int workgroupSizeX,
        int workgroupSizeY,
        int workgroupSizeZ,
        long localMemorySize) {

    /** Workgroups run sequentially on one thread. */
    public static final int SEQUENTIAL = 0x1;

    /** The dispatch chooses the workgroup size. */
    public static final int WORKGROUP_SIZE_DYNAMIC = 0x2;

    /**
     * Returns whether workgroups must run sequentially.
     *
     * @return true if {@link #SEQUENTIAL} is set
     */
    public boolean isSequential() {
        return (flags & SEQUENTIAL) != 0;
    }
}

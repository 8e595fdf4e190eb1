package io.github.iree4j.hal;

/**
 * One entry point of an executable.
 *
 * @param name its name
 * @param flags {@link #SEQUENTIAL} and {@link #WORKGROUP_SIZE_DYNAMIC} bits
 * @param constantCount 32-bit constants every dispatch passes; -1 when the executable does not say
 * @param bindingCount buffers every dispatch binds; -1 when the executable does not say
 * @param workgroupSizeX invocations of a workgroup along x as compiled; 0 when not said
 * @param workgroupSizeY invocations of a workgroup along y as compiled; 0 when not said
 * @param workgroupSizeZ invocations of a workgroup along z as compiled; 0 when not said
 * @param localMemorySize bytes of memory each worker provides while it runs a workgroup
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

    /** Workgroups run one after the other on one thread. */
    public static final int SEQUENTIAL = 0x1;

    /** The dispatch chooses the workgroup size. */
    public static final int WORKGROUP_SIZE_DYNAMIC = 0x2;

    /**
     * Returns whether workgroups must run one after the other.
     *
     * @return true if {@link #SEQUENTIAL} is set
     */
    public boolean isSequential() {
        return (flags & SEQUENTIAL) != 0;
    }
}

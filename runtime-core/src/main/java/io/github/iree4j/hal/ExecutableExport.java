package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * An entry point of an executable.
 *
 * @param name name of the entry point
 * @param flags {@link #SEQUENTIAL} and {@link #WORKGROUP_SIZE_DYNAMIC} bits
 * @param constantCount 32-bit constants passed by every dispatch; -1 when not declared by the executable
 * @param bindingCount buffers bound by every dispatch; -1 when not declared by the executable
 * @param workgroupSizeX invocations of a workgroup along x as compiled; 0 when unspecified
 * @param workgroupSizeY invocations of a workgroup along y as compiled; 0 when unspecified
 * @param workgroupSizeZ invocations of a workgroup along z as compiled; 0 when unspecified
 * @param localMemorySize bytes of memory provided by each worker while running a workgroup
 */
@NotForApplications
public record ExecutableExport(
        String name,
        int flags,
        int constantCount,
        int bindingCount,
        int workgroupSizeX,
        int workgroupSizeY,
        int workgroupSizeZ,
        long localMemorySize) {

    /** Workgroups run sequentially on a single thread. */
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

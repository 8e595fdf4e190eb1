package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * Number and size of the workgroups of a dispatch. All numbers are unsigned 32-bit.
 *
 * @param workgroupCountX workgroups along x; a dispatch with any count of 0 does nothing
 * @param workgroupCountY workgroups along y
 * @param workgroupCountZ workgroups along z; the CPU takes at most 65535
 * @param workgroupSizeX invocations of a workgroup along x; 0 leaves the size to the executable
 * @param workgroupSizeY invocations of a workgroup along y; 0 leaves the size to the executable
 * @param workgroupSizeZ invocations of a workgroup along z; 0 leaves the size to the executable
 * @param dynamicLocalMemory bytes of workgroup-local memory in addition to the memory declared by the executable
 */
@NotForApplications
public record DispatchConfig(
        int workgroupCountX,
        int workgroupCountY,
        int workgroupCountZ,
        int workgroupSizeX,
        int workgroupSizeY,
        int workgroupSizeZ,
        int dynamicLocalMemory) {

    /**
     * Returns a configuration with the workgroup size declared by the executable.
     *
     * @param x workgroups along x
     * @param y workgroups along y
     * @param z workgroups along z
     * @return the configuration
     */
    public static DispatchConfig of(int x, int y, int z) {
        return new DispatchConfig(x, y, z, 0, 0, 0, 0);
    }
}

package io.github.iree4j.nativeaccess;

/**
 * A function exported by a compiled CPU library.
 *
 * @param name the function's name; derived from the ordinal when the library has no name
 * @param constantCount number of 32-bit constants read, 0 to 64; -1 when unknown
 * @param bindingCount number of bindings accessed, 0 to 64; -1 when unknown
 * @param workgroupSizeX the compiler's recorded size, 0 for none; does not affect calls
 * @param workgroupSizeY the compiler's recorded size, 0 for none
 * @param workgroupSizeZ the compiler's recorded size, 0 for none
 * @param localMemoryBytes scratch memory needed by each concurrent call, a multiple of 4096
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
        long flags) {}

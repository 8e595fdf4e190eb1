package io.github.iree4j.spirv;

import org.jspecify.annotations.Nullable;

/**
 * An export of an executable.
 *
 * @param name the name for lookups
 * @param entryPoint the function in the module
 * @param module index of the module
 * @param subgroupSize subgroup size of the compiled code, invocations; 0 for any
 * @param layout the layout; null where not declared by the executable, as before August 2024
 * @param addresses the way of passing buffer addresses; null when descriptors are used
 */
public record SpirvPipeline(
        String name,
        String entryPoint,
        int module,
        int subgroupSize,
        @Nullable SpirvLayout layout,
        @Nullable Addresses addresses) {

    /** Size of the reference to the address table in the push constants: {@code iree_hal_vulkan_bda_dispatch_root_v1_t}. */
    public static final int ROOT_BYTES = 32;

    /**
     * Passing of buffers by device address: the push constants refer to a table with a 64-bit address for each binding.
     *
     * @param rootOffset offset in the push constants of the {@value #ROOT_BYTES} bytes referring to the table
     * @param constantOffset offset in the push constants of the constants of the dispatch
     * @param constantCount constants of the dispatch
     * @param bindingCount buffers of the dispatch
     * @param alignments required alignment of each address; powers of two
     * @param lengths minimum size of each buffer, bytes
     */
    public record Addresses(
            int rootOffset,
            int constantOffset,
            int constantCount,
            int bindingCount,
            int[] alignments,
            long[] lengths) {}
}

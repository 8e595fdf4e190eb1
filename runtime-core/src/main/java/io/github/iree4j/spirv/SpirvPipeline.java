package io.github.iree4j.spirv;

import org.jspecify.annotations.Nullable;

/**
 * One export of an executable.
 *
 * @param name what programs look it up by
 * @param entryPoint the function in its module
 * @param module index of the module
 * @param subgroupSize invocations of a subgroup that the code was compiled for; 0 for any
 * @param layout what it sees; null where the executable does not say, as those from before August 2024
 * @param addresses how it is given addresses of buffers; null when it is given descriptors
 */
public record SpirvPipeline(
        String name,
        String entryPoint,
        int module,
        int subgroupSize,
        @Nullable SpirvLayout layout,
        @Nullable Addresses addresses) {

    /** Bytes of what the push constants say about the table of addresses: {@code iree_hal_vulkan_bda_dispatch_root_v1_t}. */
    public static final int ROOT_BYTES = 32;

    /**
     * How buffers are given by device address: the push constants refer to a table with one 64-bit address for each binding.
     *
     * @param rootOffset byte of the push constants where {@value #ROOT_BYTES} bytes say where the table is
     * @param constantOffset byte of the push constants where the constants of the dispatch begin
     * @param constantCount constants of the dispatch
     * @param bindingCount buffers of the dispatch
     * @param alignments what each address must be a multiple of; powers of two
     * @param lengths bytes that each buffer must have at least
     */
    public record Addresses(
            int rootOffset,
            int constantOffset,
            int constantCount,
            int bindingCount,
            int[] alignments,
            long[] lengths) {}
}

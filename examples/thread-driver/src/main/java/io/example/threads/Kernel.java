package io.example.threads;

import java.lang.foreign.MemorySegment;

/**
 * An export of a {@link KernelLibrary}.
 *
 * @param name its name
 * @param constantCount number of constants of each dispatch
 * @param bindingCount number of buffers of each dispatch
 * @param function runs one workgroup
 */
public record Kernel(String name, int constantCount, int bindingCount, Function function) {

    /** The code of a workgroup. Workgroups of one dispatch run in any order. */
    @FunctionalInterface
    public interface Function {
        /**
         * Runs a workgroup.
         *
         * @param x position in the grid
         * @param y position in the grid
         * @param z position in the grid
         * @param dispatch grid, constants and buffers
         */
        void run(int x, int y, int z, Arguments dispatch);
    }

    /**
     * The shared state of all workgroups of a dispatch.
     *
     * @param countX workgroups in the first dimension
     * @param countY workgroups in the second dimension
     * @param countZ workgroups in the third dimension
     * @param constants as many as the kernel takes
     * @param bindings as many as the kernel takes
     */
    @SuppressWarnings("ArrayRecordComponent") // lent for one call
    public record Arguments(int countX, int countY, int countZ, int[] constants, MemorySegment[] bindings) {}
}

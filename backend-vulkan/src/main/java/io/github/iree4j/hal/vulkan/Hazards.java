package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.vulkan.VulkanWords;

/**
 * Tracks the barriers needed by commands: for each kind of following command, the earlier kinds not yet ordered
 * against. A barrier of the recording becomes a barrier between the kinds on both sides, or no barrier if there is
 * nothing to order.
 */
final class Hazards {
    /** Fills, copies and updates. */
    static final int TRANSFER = 1;

    /** Shaders of dispatches. */
    static final int COMPUTE = 2;

    /** Counts read by dispatches. */
    static final int INDIRECT = 4;

    private static final int KINDS = 3;

    private final int[] before = new int[KINDS]; // by following kind: kinds to order against
    private int written; // all kinds with writes so far

    /** Records kinds of commands. */
    void add(int kinds) {
        for (int i = 0; i < KINDS; i++) {
            before[i] |= kinds;
        }
        written |= kinds & ~INDIRECT;
    }

    /**
     * Adds a barrier before kinds of commands.
     *
     * @return the kinds to order against; 0 when no barrier is needed
     */
    int order(int kinds) {
        int sources = 0;
        for (int i = 0; i < KINDS; i++) {
            if ((kinds & 1 << i) != 0) {
                sources |= before[i];
                before[i] = 0;
            }
        }
        return sources;
    }

    /** Returns the kinds of commands with writes. */
    int written() {
        return written;
    }

    static long stages(int kinds) {
        return ((kinds & TRANSFER) != 0 ? VulkanWords.STAGE_ALL_TRANSFER : 0)
                | ((kinds & COMPUTE) != 0 ? VulkanWords.STAGE_COMPUTE_SHADER : 0)
                | ((kinds & INDIRECT) != 0 ? VulkanWords.STAGE_DRAW_INDIRECT : 0);
    }

    static long writes(int kinds) {
        return ((kinds & TRANSFER) != 0 ? VulkanWords.ACCESS_TRANSFER_WRITE : 0)
                | ((kinds & COMPUTE) != 0 ? VulkanWords.ACCESS_SHADER_WRITE : 0);
    }

    static long accesses(int kinds) {
        return writes(kinds)
                | ((kinds & TRANSFER) != 0 ? VulkanWords.ACCESS_TRANSFER_READ : 0)
                | ((kinds & COMPUTE) != 0 ? VulkanWords.ACCESS_SHADER_READ | VulkanWords.ACCESS_UNIFORM_READ : 0)
                | ((kinds & INDIRECT) != 0 ? VulkanWords.ACCESS_INDIRECT_COMMAND_READ : 0);
    }
}

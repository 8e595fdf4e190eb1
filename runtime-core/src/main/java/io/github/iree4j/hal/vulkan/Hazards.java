package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.VulkanWords;

/**
 * Tracks which barriers commands need: for each kind of command that follows, the kinds recorded before that it is not ordered
 * against. A barrier of the recording becomes one between the kinds on both sides of it, or none if there is nothing to order.
 */
final class Hazards {
    /** Fills, copies and updates. */
    static final int TRANSFER = 1;

    /** Shaders of dispatches. */
    static final int COMPUTE = 2;

    /** Counts that dispatches read. */
    static final int INDIRECT = 4;

    private static final int KINDS = 3;

    private final int[] before = new int[KINDS]; // by following kind: kinds to order against
    private int written; // all kinds that have written

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
     * @return the kinds they must be ordered against; 0 when no barrier is needed
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

    /** The kinds of commands that have written. */
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

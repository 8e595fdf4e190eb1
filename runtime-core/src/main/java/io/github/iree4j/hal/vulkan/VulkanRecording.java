package io.github.iree4j.hal.vulkan;

/**
 * Recorded commands: words, and where regions and commands begin in them. Immutable; what it refers to is kept by the command buffer.
 * Commands of a region have nothing between them.
 *
 * @param code the words
 * @param commands where in the code each command begins
 * @param regions the number of the first command of each region, and at the end that of commands
 * @param fixed buffers that ranges name by index
 * @param kernels what dispatches name by index
 * @param updates the bytes of all updates
 * @param slots slots that commands use, ascending
 * @param written whether shaders may store something there, by place: fixed buffers, then slots as in {@code slots}
 */
record VulkanRecording(
        long[] code,
        int[] commands,
        int[] regions,
        UsedBuffer[] fixed,
        VulkanKernel[] kernels,
        byte[] updates,
        int[] slots,
        boolean[] written) {
    /*
     * A command is a word with its opcode, then its operands. A range takes three words:
     *
     *   [ slot, or ~index of a fixed buffer ] [ offset ] [ length, WHOLE possible for a slot ]
     *
     * The offset counts from the start of the allocation for a fixed buffer, from the start of the table's range for a slot.
     *
     *   FILL      opcode, range, pattern, its length
     *   UPDATE    opcode, range, offset of the bytes
     *   COPY      opcode, source range, target range
     *   DISPATCH  opcode, flags | kernel, count x | y, count z | constant count, binding count, constants in pairs, bindings
     *   INDIRECT  as DISPATCH, with the range of the counts in front of the constants
     *
     * where "a | b" is a in the upper and b in the lower half of a word.
     */
    static final int FILL = 1;
    static final int UPDATE = 2;
    static final int COPY = 3;
    static final int DISPATCH = 4;
    static final int INDIRECT = 5;

    /** As a flag of a dispatch: its descriptors are recorded with it, since they never change. */
    static final int PUSHED = 1;

    /** Words of a dispatch in front of its constants, or of the range of its counts. */
    static final int DISPATCH_WORDS = 5;

    /** Words of a range. */
    static final int RANGE_WORDS = 3;

    /** One more than the highest slot that commands use. */
    int slotLimit() {
        return slots.length == 0 ? 0 : slots[slots.length - 1] + 1;
    }

    int op(int at) {
        return (int) code[at];
    }

    boolean isDispatch(int at) {
        return code[at] >= DISPATCH;
    }

    VulkanKernel kernel(int at) {
        return kernels[(int) code[at + 1]];
    }

    boolean isPushed(int at) {
        return (code[at + 1] >>> 32 & PUSHED) != 0;
    }

    int constantCount(int at) {
        return (int) code[at + 3];
    }

    int bindingCount(int at) {
        return (int) code[at + 4];
    }

    /** Where the constants of a dispatch begin. */
    int constants(int at) {
        return at + DISPATCH_WORDS + (code[at] == INDIRECT ? RANGE_WORDS : 0);
    }

    /** Where the ranges of its bindings begin. */
    int bindings(int at) {
        return constants(at) + (constantCount(at) + 1) / 2;
    }
}

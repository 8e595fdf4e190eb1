package io.github.iree4j.modules.hal;

/**
 * Compiler bugs in the modules of a program that must be worked around.
 *
 * @param usesAfterDealloca buffers are used after their deallocation; workaround: the last reference frees them
 * @param signalsEarly functions signal the fence of their caller before the work that they have submitted has finished; workaround: it is
 *     signalled after that work
 */
public record CompilerFaults(boolean usesAfterDealloca, boolean signalsEarly) {
    /** No bugs. */
    public static final CompilerFaults NONE = new CompilerFaults(false, false);
}

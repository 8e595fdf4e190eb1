package io.github.iree4j.modules.hal;

/**
 * What compilers got wrong in the modules of a program, which has to be made up for.
 *
 * @param usesAfterDealloca buffers are used after their deallocation: the last reference frees them
 * @param signalsEarly functions signal the fence of their caller before the work that they have submitted: it is signalled behind that
 */
public record CompilerFaults(boolean usesAfterDealloca, boolean signalsEarly) {
    /** As it should be. */
    public static final CompilerFaults NONE = new CompilerFaults(false, false);
}

package io.github.iree4j.modules.hal;

/**
 * Compiler bugs in the modules of a program, with a need for workarounds.
 *
 * @param usesAfterDealloca buffers are used after deallocation; workaround: the last reference frees them
 * @param signalsEarly functions signal the caller's fence before the submitted work has finished; workaround: the fence
 *     is signalled after the submitted work
 */
public record CompilerFaults(boolean usesAfterDealloca, boolean signalsEarly) {
    /** No bugs. */
    public static final CompilerFaults NONE = new CompilerFaults(false, false);
}

package io.github.iree4j.hal;

import java.util.List;

/**
 * What dispatches of an export pass, as the program says it for executables that do not: those of compilers before August 2024.
 *
 * @param constantCount 32-bit constants
 * @param sets the descriptor sets by number, each with the numbers of its bindings, ascending; bindings of dispatches follow that order
 */
public record ExecutableLayout(int constantCount, List<List<Integer>> sets) {
    /** Copies. */
    public ExecutableLayout {
        sets = sets.stream().map(List::copyOf).toList();
    }
}

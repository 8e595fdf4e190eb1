package io.github.iree4j.hal;

import java.util.List;

/**
 * Arguments of an export's dispatches, declared by the program for executables that do not declare them: those of compilers before August
 * 2024.
 *
 * @param constantCount 32-bit constants
 * @param sets the descriptor sets by number, each with the numbers of its bindings, ascending; dispatches bind in that order
 */
public record ExecutableLayout(int constantCount, List<List<Integer>> sets) {
    /** Copies the lists. */
    public ExecutableLayout {
        sets = sets.stream().map(List::copyOf).toList();
    }
}

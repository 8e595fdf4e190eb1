package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import java.util.List;

/**
 * Arguments of an export's dispatches, declared by the program for executables without such declarations, from
 * compilers before August 2024.
 *
 * @param constantCount 32-bit constants
 * @param sets the descriptor sets by number, each with the ascending numbers of its bindings; dispatches bind in this
 *     order
 */
@NotForApplications
public record ExecutableLayout(int constantCount, List<List<Integer>> sets) {
    /** Copies the lists. */
    public ExecutableLayout {
        sets = sets.stream().map(List::copyOf).toList();
    }
}

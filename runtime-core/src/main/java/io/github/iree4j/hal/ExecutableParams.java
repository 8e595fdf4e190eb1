package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.RefCounted;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parameters to create an executable.
 *
 * @param format the format of the data, for example {@code embedded-elf-x86_64}
 * @param data the compiled code; at any alignment; must not be written during loading
 * @param owner keeps the data valid; retained as long as the executable refers to the data, null for data that outlives
 *     the executable
 * @param constants specialisation constants, in the order fixed by the compiler
 * @param layouts arguments of each export, where declared by the program; empty where declared by the executable
 */
@NotForApplications
public record ExecutableParams(
        String format,
        MemorySegment data,
        @Nullable RefCounted owner,
        int[] constants,
        List<ExecutableLayout> layouts) {

    /** Copies the list. */
    public ExecutableParams {
        layouts = List.copyOf(layouts);
    }

    /**
     * Creates parameters of an executable with declared arguments of the exports.
     *
     * @param format the format of the data
     * @param data the compiled code
     * @param owner keeps the data valid, or null
     * @param constants specialisation constants
     */
    public ExecutableParams(String format, MemorySegment data, @Nullable RefCounted owner, int[] constants) {
        this(format, data, owner, constants, List.of());
    }

    /**
     * Creates parameters of an executable without specialisation constants.
     *
     * @param format the format of the data
     * @param data the compiled code
     */
    public ExecutableParams(String format, MemorySegment data) {
        this(format, data, null, new int[0]);
    }
}

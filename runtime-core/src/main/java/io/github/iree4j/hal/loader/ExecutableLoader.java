package io.github.iree4j.hal.loader;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Loads a kind of code for the local device. Found by {@link java.util.ServiceLoader}; the constructor does nothing
 * costly and does not fail. Safe from any thread.
 */
public interface ExecutableLoader {

    /**
     * Returns the formats loadable by this loader on this machine.
     *
     * @return formats, for example {@code embedded-elf-x86_64}; empty when the loader does not work here
     */
    List<String> formats();

    /**
     * Returns whether this loader can load a format on this machine.
     *
     * @param format for example {@code embedded-elf-x86_64}
     * @return true if {@link #load} may succeed
     */
    default boolean supports(String format) {
        return formats().contains(format);
    }

    /**
     * Returns the compiler flags for code of this loader.
     *
     * @param format a format of {@link #formats}
     * @return flags of iree-compile; empty when unknown, also the result unless overridden
     */
    default String compileFlags(String format) {
        return "";
    }

    /**
     * Loads code.
     *
     * @param format a supported format
     * @param data the code; at any alignment
     * @param owner keeps the data valid; to be retained if the data is used after the call
     * @param constants specialisation constants
     * @return the code; the caller closes it
     * @throws IreeException INVALID_ARGUMENT, INCOMPATIBLE or another code for the defect of the data
     */
    LoadedExecutable load(String format, MemorySegment data, @Nullable RefCounted owner, int[] constants);
}

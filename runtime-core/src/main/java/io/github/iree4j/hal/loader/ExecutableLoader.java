package io.github.iree4j.hal.loader;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Loads one kind of code that the local device can run. Found by {@link java.util.ServiceLoader}; the constructor does nothing
 * costly and does not fail. Safe from any thread.
 */
public interface ExecutableLoader {

    /**
     * Returns what this loader can load on this machine.
     *
     * @return formats, for example {@code embedded-elf-x86_64}; empty when it does not work here
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
     * Returns how code for this loader is compiled.
     *
     * @param format one of {@link #formats}
     * @return flags of iree-compile; empty when unknown, which is what this method returns unless overridden
     */
    default String compileFlags(String format) {
        return "";
    }

    /**
     * Loads code.
     *
     * @param format one that this loader supports
     * @param data the code; at any alignment
     * @param owner keeps the data valid; to be retained if the data is used after the call
     * @param constants specialisation constants
     * @return the code; the caller closes it
     * @throws IreeException INVALID_ARGUMENT, INCOMPATIBLE or another code that says what is wrong with the data
     */
    LoadedExecutable load(String format, MemorySegment data, @Nullable RefCounted owner, int[] constants);
}

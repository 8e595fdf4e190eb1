package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;

/**
 * Limits on the contents of a module file. A file exceeding the limits is refused with RESOURCE_EXHAUSTED.
 *
 * @param maxEntries most entries of each table: functions, imports, exports, types, constants, attributes
 * @param maxBytecode most bytes of code, counted per function
 * @param maxGlobalBytes most bytes of global values per context
 * @param maxGlobalRefs most global references per context
 */
@NotForApplications
public record ModuleLimits(int maxEntries, int maxBytecode, int maxGlobalBytes, int maxGlobalRefs) {
    /** A hundred thousand entries, 32 MiB of code, 4 MiB of globals and half a million global references. */
    public static final ModuleLimits DEFAULTS = new ModuleLimits(100_000, 32 << 20, 4 << 20, 1 << 19);

    /**
     * Checks the limits.
     *
     * @param maxEntries at least 1
     * @param maxBytecode at least 1
     * @param maxGlobalBytes at least 0
     * @param maxGlobalRefs at least 0
     */
    public ModuleLimits {
        if (maxEntries < 1 || maxBytecode < 1 || maxGlobalBytes < 0 || maxGlobalRefs < 0) {
            throw new IllegalArgumentException(
                    "limits must be positive: entries %d, bytecode %d, global bytes %d, global refs %d"
                            .formatted(maxEntries, maxBytecode, maxGlobalBytes, maxGlobalRefs));
        }
    }
}

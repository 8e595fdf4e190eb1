package io.github.iree4j.hal;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** Compiled code loaded on a device, with entry points numbered from 0. Safe from any thread. */
public abstract class Executable extends Resource {

    /** For backends. */
    protected Executable() {}

    /**
     * Returns the format that it was loaded from.
     *
     * @return the format, for example {@code embedded-elf-x86_64}
     */
    public abstract String format();

    /**
     * Returns how many entry points there are.
     *
     * @return the count
     */
    public abstract int exportCount();

    /**
     * Describes an entry point.
     *
     * @param ordinal 0 to {@link #exportCount()} - 1
     * @return the entry point
     * @throws IreeException OUT_OF_RANGE when there is none
     */
    public abstract ExecutableExport export(int ordinal);

    /**
     * Finds an entry point by name.
     *
     * @param name its name
     * @return its ordinal
     * @throws IreeException NOT_FOUND naming the existing entry points
     */
    public int lookup(String name) {
        StringBuilder known = new StringBuilder();
        for (int i = 0; i < exportCount(); i++) {
            String candidate = export(i).name();
            if (candidate.equals(name)) {
                return i;
            }
            if (i < 8) {
                known.append(i == 0 ? "" : ", ").append(candidate);
            }
        }
        throw new IreeException(
                StatusCode.NOT_FOUND,
                "executable of format '%s' has no export '%s'; it has %d: %s%s"
                        .formatted(format(), name, exportCount(), known, exportCount() > 8 ? ", ..." : ""));
    }

    @Override
    protected String describe() {
        return "executable of format '" + format() + "'";
    }
}

package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Compiled code loaded on a device, with entry points numbered from 0. Safe from any thread. */
@NotForApplications
public abstract class Executable extends Resource {
    private volatile @Nullable Map<String, Integer>
            ordinals; // by name, from the first lookup: programs look up at every dispatch

    /** For backends. */
    protected Executable() {}

    /**
     * Returns the format of the loaded code.
     *
     * @return the format, for example {@code embedded-elf-x86_64}
     */
    public abstract String format();

    /**
     * Returns the number of entry points.
     *
     * @return the count
     */
    public abstract int exportCount();

    /**
     * Describes an entry point.
     *
     * @param ordinal 0 to {@link #exportCount()} - 1
     * @return the entry point
     * @throws IreeException OUT_OF_RANGE when no such entry point exists
     */
    public abstract ExecutableExport export(int ordinal);

    /**
     * Returns whether a dispatch may write a binding.
     *
     * @param ordinal ordinal of the entry point
     * @param binding number of the binding
     * @return false only when the code is known not to write the binding; true unless overridden
     */
    public boolean mayWrite(int ordinal, int binding) {
        return true;
    }

    /**
     * Finds an entry point by name.
     *
     * @param name name of the entry point
     * @return ordinal of the entry point
     * @throws IreeException NOT_FOUND naming the existing entry points
     */
    public int lookup(String name) {
        Map<String, Integer> all = ordinals;
        if (all == null) {
            all = new HashMap<>();
            for (int i = 0; i < exportCount(); i++) {
                all.putIfAbsent(export(i).name(), i);
            }
            ordinals = all;
        }
        Integer ordinal = all.get(name);
        if (ordinal == null) {
            ordinal = all.get(exportName(name));
        }
        if (ordinal == null) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "executable of format '%s' has no export '%s'; it has %d: %s%s"
                            .formatted(
                                    format(),
                                    name,
                                    exportCount(),
                                    IntStream.range(0, Math.min(8, exportCount()))
                                            .mapToObj(i -> export(i).name())
                                            .collect(Collectors.joining(", ")),
                                    exportCount() > 8 ? ", ..." : ""));
        }
        return ordinal;
    }

    /**
     * Returns the name that compilers give the entry point with another name in lookups.
     *
     * @param name a name that no entry point has
     * @return the name of the entry point, which need not exist; the argument where formats have all names
     */
    protected String exportName(String name) {
        return name;
    }

    @Override
    protected String describe() {
        return "executable of format '" + format() + "'";
    }
}

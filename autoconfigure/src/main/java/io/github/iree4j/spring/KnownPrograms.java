package io.github.iree4j.spring;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.math.BigInteger;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The defined programs by name, and by version, the latest first; loaded or not. Thread-safe. */
final class KnownPrograms {

    private static final Comparator<String> NEWEST_FIRST = Comparator.comparing((String version) ->
                    version.matches("[0-9]{1,40}") ? new BigInteger(version) : BigInteger.ONE.negate())
            .thenComparing(Comparator.naturalOrder())
            .reversed();

    private final NavigableMap<String, NavigableMap<String, ProgramSlot>> programs = new ConcurrentSkipListMap<>();

    /** Returns the slot for the name and version of a source; creates the slot if necessary. */
    ProgramSlot define(ProgramSource source, Function<? super ProgramSource, ProgramSlot> create) {
        return programs.computeIfAbsent(source.name(), _ -> new ConcurrentSkipListMap<>(NEWEST_FIRST))
                .computeIfAbsent(source.version(), _ -> create.apply(source));
    }

    /**
     * Finds a program.
     *
     * @param version null for the latest loaded version, else the latest version that has not failed, else any failed
     *     version
     * @return null when there is no such program
     */
    @Nullable
    ProgramSlot find(String name, @Nullable String version) {
        NavigableMap<String, ProgramSlot> versions = programs.get(name);
        if (versions == null) {
            return null;
        }
        return version == null ? latest(versions.values()) : versions.get(version);
    }

    private static @Nullable ProgramSlot latest(Collection<ProgramSlot> slots) {
        ProgramSlot best = null;
        for (ProgramSlot slot : slots) {
            if (slot.loaded() != null) {
                return slot;
            }
            best = best == null || best.status().state() == ProgramState.FAILED ? slot : best;
        }
        return best;
    }

    /** Finds a program like {@link #find}; throws NOT_FOUND when there is no such program. */
    ProgramSlot require(String name, @Nullable String version) {
        ProgramSlot slot = find(name, version);
        if (slot == null) {
            NavigableMap<String, ProgramSlot> versions = programs.get(name);
            throw version == null || versions == null
                    ? unknown("there is no program '%s'".formatted(name), "; there are " + names())
                    : IreeException.of(
                            StatusCode.NOT_FOUND,
                            "there is no version '%s' of program '%s'; there are %s"
                                    .formatted(version, name, versions.keySet()));
        }
        return slot;
    }

    /** Returns the failure for an unknown function name. */
    IreeException noFunction(String name) {
        return name.indexOf('.') < 0
                ? unknown(
                        "'%s' is not the name of a function; name it as 'program.function'".formatted(name),
                        ", with a program of " + names())
                : unknown(
                        "no program for '%s'".formatted(name),
                        "; there are %s, set iree.modules.<name>.location to add a program, or script a program in a test with FakePrograms"
                                .formatted(names()));
    }

    /** Makes a NOT_FOUND failure. The known names help developers, but also clients guessing names. */
    private static IreeException unknown(String text, String known) {
        return IreeException.of(StatusCode.NOT_FOUND, text + known, null, new ClientText(text));
    }

    boolean contains(String name) {
        return programs.containsKey(name);
    }

    NavigableSet<String> names() {
        return programs.navigableKeySet();
    }

    /** Returns all versions of a program; empty for an unknown program. */
    Collection<ProgramSlot> versions(String name) {
        NavigableMap<String, ProgramSlot> versions = programs.get(name);
        return versions == null ? List.of() : versions.values();
    }

    /** Returns all versions of all programs, by name. */
    List<ProgramSlot> all() {
        return programs.values().stream()
                .flatMap(versions -> versions.values().stream())
                .toList();
    }

    /** Removes and returns all versions of a program; empty for an unknown program. */
    Collection<ProgramSlot> remove(String name) {
        NavigableMap<String, ProgramSlot> removed = programs.remove(name);
        return removed == null ? List.of() : removed.values();
    }

    /** Removes a version; null for an unknown version. */
    @Nullable
    ProgramSlot remove(String name, String version) {
        NavigableMap<String, ProgramSlot> versions = programs.get(name);
        ProgramSlot removed = versions == null ? null : versions.remove(version);
        programs.computeIfPresent(name, (_, left) -> left.isEmpty() ? null : left);
        return removed;
    }
}

package io.github.iree4j.spring;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * The actions of operators on programs: loading, unloading and warming up, whatever the transport.
 *
 * <p>An action holds a thread of a server until the end, and a load may hang. So few actions are in progress at once:
 * {@value #OF_A_PROGRAM} of a program and {@value #IN_ALL} in all. Further actions fail at once with UNAVAILABLE and the
 * time for another attempt. Unloads count separately, since an unload ends a load that hangs. Thread-safe.
 */
@NotForApplications
public final class ProgramActions {

    private static final int OF_A_PROGRAM = 4;
    private static final int IN_ALL = 8;

    /** The shortest time after which another attempt is worthwhile. */
    private static final Duration SOON = Duration.ofSeconds(1);

    private final Programs programs;
    private final Places loads = new Places();
    private final Places unloads = new Places();

    ProgramActions(Programs programs) {
        this.programs = programs;
    }

    /** The places of actions in progress. */
    private static final class Places {
        private final Semaphore free = new Semaphore(IN_ALL);
        private final Map<String, Integer> taken = new ConcurrentHashMap<>();

        boolean take(String program) {
            if (!free.tryAcquire()) {
                return false;
            }
            if (taken.merge(program, 1, Integer::sum) <= OF_A_PROGRAM) {
                return true;
            }
            giveBack(program);
            return false;
        }

        void giveBack(String program) {
            taken.computeIfPresent(program, (_, number) -> number == 1 ? null : number - 1);
            free.release();
        }
    }

    /**
     * Loads or reloads a known program like {@link Programs#load(String, String)}, but on another thread: an operator
     * who leaves does not end a load that others wait for.
     *
     * @param name the program's name
     * @param version the program's version; null for the latest
     * @throws IreeException as {@link Programs#load(String, String)}; UNAVAILABLE also when too many actions wait
     * @throws ProgramLoadException when the program cannot be loaded
     */
    public void load(String name, @Nullable String version) {
        within(loads, name, () -> programs.reload(name, version));
    }

    /**
     * Loads or reloads all versions of a known program, the latest first.
     *
     * @param name the program's name
     * @throws IreeException as {@link #load}
     * @throws ProgramLoadException when a version cannot be loaded; earlier versions are not loaded then
     */
    public void loadAll(String name) {
        within(loads, name, () -> known(name).forEach(each -> programs.reload(name, each)));
    }

    /**
     * Unloads a program; calls in flight finish first, and loads in progress are cancelled.
     *
     * @param name the program's name
     * @param version the program's version; null for the latest
     * @throws IreeException as {@link Programs#unload(String, String)}; UNAVAILABLE also when too many actions wait
     */
    public void unload(String name, @Nullable String version) {
        within(unloads, name, () -> programs.unload(name, version));
    }

    /**
     * Unloads all versions of a program like {@link #unload}.
     *
     * @param name the program's name
     * @throws IreeException as {@link #unload}
     */
    public void unloadAll(String name) {
        within(unloads, name, () -> known(name).forEach(each -> programs.unload(name, each)));
    }

    /**
     * Repeats the warm-up calls of a program; loads the program first if not loaded.
     *
     * @param name the program's name
     * @param version the program's version; null for the latest
     * @throws IreeException as {@link Programs#warm}; UNAVAILABLE also when too many actions wait
     */
    public void warm(String name, @Nullable String version) {
        within(loads, name, () -> programs.warm(name, version));
    }

    private List<String> known(String name) {
        List<String> versions = programs.versions(name).stream()
                .map(status -> status.source().version())
                .toList();
        if (versions.isEmpty()) {
            programs.load(name, null); // throws NOT_FOUND
        }
        return versions;
    }

    private void within(Places places, String name, Runnable action) {
        if (!places.take(name)) {
            throw tooMany(name);
        }
        try {
            action.run();
        } finally {
            places.giveBack(name);
        }
    }

    /** Makes the refusal of an action. A load that has taken long may well take as long again. */
    private IreeException tooMany(String name) {
        ProgramStatus loading = loading(programs.versions(name));
        Duration taken = loading == null ? Duration.ZERO : Duration.between(loading.since(), Instant.now());
        RetryLater later = new RetryLater(taken.compareTo(SOON) < 0 ? SOON : taken);
        String reason = loading == null
                ? "programs are being loaded or unloaded"
                : "program %s is being loaded, for %d ms so far"
                        .formatted(loading.source().describe(), taken.toMillis());
        return IreeException.of(
                StatusCode.UNAVAILABLE,
                "%s, and as many actions wait as may; try again in %d s".formatted(reason, later.seconds()),
                null,
                later);
    }

    private static @Nullable ProgramStatus loading(List<ProgramStatus> statuses) {
        return statuses.stream()
                .filter(status -> status.state() == ProgramState.LOADING || status.state() == ProgramState.WARMING_UP)
                .findFirst()
                .orElse(null);
    }
}

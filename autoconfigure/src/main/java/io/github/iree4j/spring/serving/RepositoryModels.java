package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.ClientText;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/** Lists, loads and unloads configured models, for any transport. Loading and unloading block. */
final class RepositoryModels {

    private final Programs programs;

    RepositoryModels(Programs programs) {
        this.programs = programs;
    }

    record Entry(String name, String version, String state, String reason) {}

    /** Lists all versions of all models, or only the ready versions. */
    List<Entry> index(boolean onlyReady) {
        return programs.statuses().stream()
                .filter(status -> !onlyReady || status.state() == ProgramState.READY)
                .map(RepositoryModels::entry)
                .toList();
    }

    private static Entry entry(ProgramStatus status) {
        Throwable failure = status.failure();
        return new Entry(
                status.source().name(),
                status.source().version(),
                switch (status.state()) {
                    case READY -> "READY";
                    case LOADING, WARMING_UP -> "LOADING";
                    default -> "UNAVAILABLE";
                },
                failure == null ? "" : ClientText.of(failure));
    }

    /** Rejects parameters that would give the location of a model. */
    static void checkParameter(String parameter) {
        if (parameter.equals("config") || parameter.startsWith("file:")) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "parameter '%s' is not supported; models are loaded as they are configured"
                            .formatted(Datatype.shortened(parameter)));
        }
    }

    /** Loads or reloads all versions of a model from their configured locations. */
    void load(String model) {
        programs.actions().loadAll(model);
    }

    /** Unloads all versions of a model; calls in flight finish first. */
    void unload(String model) {
        programs.actions().unloadAll(model);
    }
}

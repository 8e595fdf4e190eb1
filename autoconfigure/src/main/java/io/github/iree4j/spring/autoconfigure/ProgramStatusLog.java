package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Writes program statuses to the log and the events: each change of state, each parameter file, each quarter of a load.
 */
final class ProgramStatusLog {

    private static final Logger log = LoggerFactory.getLogger(ProgramStatusLog.class);
    private static final int QUARTERS = 4;

    /** Structured logging key; the value is name and version. */
    private static final String MODULE = "iree.module";

    private record Last(
            ProgramState state, int quarter, @Nullable Throwable failure) {}

    private final IreeEvents events;
    private final Map<String, Last> last = new ConcurrentHashMap<>();

    ProgramStatusLog(IreeEvents events) {
        this.events = events;
    }

    void write(ProgramStatus status) {
        String name = status.source().name() + ":" + status.source().version();
        Last now = new Last(status.state(), (int) (status.progress() * QUARTERS), status.failure());
        Last before = last.put(name, now);
        if (before == null || before.state() != now.state() || !Objects.equals(before.failure(), now.failure())) {
            note(name, status);
        } else if (isWorthIt(status.parameters())) {
            note(name, "program.parameters", status.step());
        } else if (now.quarter() > before.quarter()) {
            note(
                    name,
                    "program.loading",
                    Math.round(status.progress() * 100) + " % of loading and warming up; now " + status.step());
        }
        if (status.state() == ProgramState.UNLOADED) {
            last.remove(name);
        }
    }

    private static boolean isWorthIt(@Nullable ParameterProgress parameters) {
        return parameters != null && parameters.phase() != ParameterProgress.Phase.LOADING;
    }

    private void note(String name, String type, String message) {
        log.atInfo().addKeyValue(MODULE, name).log("program {}: {}", name, message);
        events.add(type, name, message);
    }

    private void note(String name, ProgramStatus status) {
        String message = switch (status.state()) {
            case UNLOADED ->
                status.failure() == null
                        ? "unloaded"
                        : "not loaded, the next call loads it: "
                                + status.failure().getMessage();
            case LOADING -> "loading from '%s'".formatted(status.source().location());
            case WARMING_UP -> "warming up";
            case READY ->
                status.failure() == null
                        ? "ready after %d ms".formatted(status.loadTime().toMillis())
                        : "not loaded again, stays as it was: "
                                + status.failure().getMessage();
            case FAILED ->
                "failed: " + (status.failure() == null ? "" : status.failure().getMessage());
        };
        if (!status.changes().isEmpty() && status.failure() == null) {
            String changes = String.join("; ", status.changes());
            events.add("program.changed", name, changes);
            log.atWarn()
                    .addKeyValue(MODULE, name)
                    .log("program {} differs from the former program of this name: {}", name, changes);
        }
        boolean reloadFailed = status.state() == ProgramState.READY && status.failure() != null;
        String type = reloadFailed ? "reload-failed" : status.state().name().toLowerCase(Locale.ROOT);
        events.add("program." + type, name, message);
        log.atLevel(status.failure() == null || isEnded(status) ? Level.INFO : Level.WARN)
                .addKeyValue(MODULE, name)
                .addKeyValue("iree.state", status.state())
                .log("program {} {}", name, message);
    }

    /** Whether the load was cancelled, or refused by a stopping application: no failure of the program. */
    private static boolean isEnded(ProgramStatus status) {
        return status.state() == ProgramState.UNLOADED
                && status.failure() instanceof ProgramLoadException failure
                && failure.getCause() instanceof IreeException cause
                && cause.code() != StatusCode.DEADLINE_EXCEEDED;
    }
}

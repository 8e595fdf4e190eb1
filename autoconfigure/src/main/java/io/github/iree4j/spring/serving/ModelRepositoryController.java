package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.http.HttpStatuses;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Map;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Triton's <a href="https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_model_repository.md">extension for
 * the model repository</a>: which models there are, and loading and unloading those that are configured. Where a model comes from is never
 * taken from a request.
 */
@RestController
@RequestMapping("/v2/repository")
public final class ModelRepositoryController {

    private final Programs programs;

    /**
     * A controller.
     *
     * @param programs what is loaded and unloaded
     */
    public ModelRepositoryController(Programs programs) {
        this.programs = programs;
    }

    record Entry(String name, String version, String state, String reason) {}

    record Failure(String error) {}

    @PostMapping("/index")
    List<Entry> index() {
        return programs.statuses().stream()
                .map(ModelRepositoryController::entry)
                .toList();
    }

    private static Entry entry(ProgramStatus status) {
        Throwable failure = status.failure();
        return new Entry(
                status.source().name(),
                status.source().version(),
                status.state() == ProgramState.READY
                        ? "READY"
                        : status.state() == ProgramState.LOADING || status.state() == ProgramState.WARMING_UP
                                ? "LOADING"
                                : "UNAVAILABLE",
                failure == null ? "" : String.valueOf(failure.getMessage()));
    }

    /** Loads all versions of a model, again if they are loaded: from the same place, where other files may lie by now. */
    @PostMapping("/models/{model}/load")
    Map<String, String> load(@PathVariable String model) {
        for (ProgramStatus status : known(model)) {
            programs.load(model, status.source().version());
        }
        return Map.of();
    }

    /** Unloads all versions of a model; calls under way end first. */
    @PostMapping("/models/{model}/unload")
    Map<String, String> unload(@PathVariable String model) {
        for (ProgramStatus status : known(model)) {
            programs.unload(model, status.source().version());
        }
        return Map.of();
    }

    private List<ProgramStatus> known(String model) {
        List<ProgramStatus> versions = programs.versions(model);
        if (versions.isEmpty()) {
            programs.load(model, null); // says that there is none
        }
        return versions;
    }

    @ExceptionHandler
    ResponseEntity<Failure> failed(IreeException e) {
        return answer(HttpStatuses.of(e.code()), e.getMessage());
    }

    @ExceptionHandler
    ResponseEntity<Failure> notLoaded(ProgramLoadException e) {
        return answer(
                e.getCause() instanceof IreeException cause
                        ? HttpStatuses.of(cause.code())
                        : HttpStatus.INTERNAL_SERVER_ERROR,
                String.valueOf(e.getMessage()));
    }

    private static ResponseEntity<Failure> answer(HttpStatus status, String message) {
        return ResponseEntity.status(status)
                .contentType(MediaType.APPLICATION_JSON)
                .body(new Failure(message));
    }
}

package io.github.iree4j.spring.serving;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.status.IreeException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.HttpMediaTypeNotAcceptableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.MethodNotAllowedException;
import tools.jackson.core.JacksonException;

/**
 * Triton's <a
 * href="https://github.com/triton-inference-server/server/blob/main/docs/protocol/extension_model_repository.md">extension
 * for the model repository</a>, with Spring MVC: lists models, and loads and unloads configured models. The location of
 * a model is never taken from a request.
 */
@RestController
@RequestMapping("/v2/repository")
@NotForApplications
public final class ModelRepositoryController {

    private final ModelRepository repository;

    /**
     * Creates a controller.
     *
     * @param programs the programs to load and unload
     * @param limits the limits of bodies
     */
    public ModelRepositoryController(Programs programs, BodyLimits limits) {
        this.repository = new ModelRepository(programs, limits);
    }

    @PostMapping("/index")
    List<RepositoryModels.Entry> index(@RequestHeader HttpHeaders headers, InputStream body) throws IOException {
        return repository.index(headers, body);
    }

    @PostMapping("/models/{model}/load")
    Map<String, String> load(@PathVariable String model, @RequestHeader HttpHeaders headers, InputStream body)
            throws IOException {
        return repository.load(model, headers, body);
    }

    @PostMapping("/models/{model}/unload")
    Map<String, String> unload(@PathVariable String model, @RequestHeader HttpHeaders headers, InputStream body)
            throws IOException {
        return repository.unload(model, headers, body);
    }

    @NotServed.Repository
    void notPost(HttpServletRequest request) {
        throw new MethodNotAllowedException(request.getMethod(), List.of(HttpMethod.POST));
    }

    @ExceptionHandler({
        IreeException.class,
        ProgramLoadException.class,
        ErrorResponseException.class,
        HttpMediaTypeNotAcceptableException.class,
        JacksonException.class
    })
    ResponseEntity<ProtocolFailure> failed(Exception failure) {
        return ProtocolFailure.answer(failure);
    }
}

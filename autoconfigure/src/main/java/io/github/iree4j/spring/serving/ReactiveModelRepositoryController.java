package io.github.iree4j.spring.serving;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Map;
import org.springframework.http.HttpMethod;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.MethodNotAllowedException;
import reactor.core.publisher.Mono;
import tools.jackson.core.JacksonException;

/** The counterpart of {@link ModelRepositoryController} for Spring WebFlux. */
@RestController
@RequestMapping("/v2/repository")
@NotForApplications
public final class ReactiveModelRepositoryController {

    private final ModelRepository repository;
    private final BodyLimits limits;

    /**
     * Creates a controller.
     *
     * @param programs the programs to load and unload
     * @param limits the limits of bodies
     */
    public ReactiveModelRepositoryController(Programs programs, BodyLimits limits) {
        this.repository = new ModelRepository(programs, limits);
        this.limits = limits;
    }

    private <T> Mono<T> read(ServerHttpRequest request, ReactiveBody.Reader<T> reader) {
        return ReactiveBody.read(request, limits.timeout(), reader);
    }

    @PostMapping("/index")
    Mono<List<RepositoryModels.Entry>> index(ServerHttpRequest request) {
        return read(request, body -> repository.index(request.getHeaders(), body));
    }

    @PostMapping("/models/{model}/load")
    Mono<Map<String, String>> load(@PathVariable String model, ServerHttpRequest request) {
        return read(request, body -> repository.load(model, request.getHeaders(), body));
    }

    @PostMapping("/models/{model}/unload")
    Mono<Map<String, String>> unload(@PathVariable String model, ServerHttpRequest request) {
        return read(request, body -> repository.unload(model, request.getHeaders(), body));
    }

    @NotServed.Repository
    Mono<Void> notPost(ServerHttpRequest request) {
        return ReactiveBody.blocking(() -> {
            throw new MethodNotAllowedException(request.getMethod(), List.of(HttpMethod.POST));
        });
    }

    @ExceptionHandler({
        IreeException.class,
        ProgramLoadException.class,
        ErrorResponseException.class,
        JacksonException.class
    })
    ResponseEntity<ProtocolFailure> failed(Exception failure) {
        return ProtocolFailure.answer(failure);
    }
}

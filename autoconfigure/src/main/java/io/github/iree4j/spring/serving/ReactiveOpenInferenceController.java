package io.github.iree4j.spring.serving;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.handler.SimpleUrlHandlerMapping;
import org.springframework.web.server.MethodNotAllowedException;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import tools.jackson.core.JacksonException;

/**
 * The Open Inference Protocol, version 2, over REST with Spring WebFlux, with the binary tensor data extension. A
 * disconnecting client cancels the call.
 */
@RestController
@RequestMapping("/v2")
@NotForApplications
public final class ReactiveOpenInferenceController {

    /*
     * No request is answered on an event loop, even if the answer would not block: Reactor Netty up to 1.3.7 stops
     * reading from a connection when a pipelined request is answered synchronously before the previous response has
     * completed (Reactor Netty issue 4361), and inference completes on another thread.
     */
    private final OpenInference protocol;
    private final BodyLimits limits;

    /**
     * Creates a controller.
     *
     * @param models the served models
     * @param invocations makes the calls
     * @param options the limits of serving
     * @param limits the limits of bodies
     */
    public ReactiveOpenInferenceController(
            ServedModels models, InvocationService invocations, ServingOptions options, BodyLimits limits) {
        this.limits = limits;
        this.protocol = OpenInference.overHttp(models, invocations, options, limits);
    }

    /**
     * Returns a mapping like {@link OpenInferenceController#unservedPaths}.
     *
     * @return the mapping; for Spring to initialize
     */
    public HandlerMapping unservedPaths() {
        HandlerMethod unknown = NotServed.handler(this, ServerHttpRequest.class);
        return new SimpleUrlHandlerMapping(Map.of(NotServed.BELOW, unknown), NotServed.BEFORE_FILES);
    }

    @GetMapping({"", "/"})
    Mono<OpenInference.ServerMetadata> server() {
        return ReactiveBody.blocking(protocol::server);
    }

    @GetMapping("/health/live")
    Mono<OpenInference.Live> live() {
        return ReactiveBody.blocking(protocol::live);
    }

    @GetMapping("/health/ready")
    Mono<ResponseEntity<OpenInference.Ready>> ready() {
        return ReactiveBody.blocking(protocol::ready);
    }

    @GetMapping({"/models/{model}/ready", "/models/{model}/versions/{version}/ready"})
    Mono<ResponseEntity<OpenInference.ModelReady>> ready(
            @PathVariable String model, @PathVariable(required = false) @Nullable String version) {
        return ReactiveBody.blocking(() -> protocol.ready(model, version));
    }

    @GetMapping({"/models/{model}", "/models/{model}/versions/{version}"})
    Mono<OpenInference.ModelMetadata> model(
            @PathVariable String model, @PathVariable(required = false) @Nullable String version) {
        return ReactiveBody.blocking(() -> protocol.model(model, version));
    }

    @GetMapping({"/models/{model}/config", "/models/{model}/versions/{version}/config"})
    Mono<Map<String, Object>> configuration(
            @PathVariable String model, @PathVariable(required = false) @Nullable String version) {
        return ReactiveBody.blocking(
                () -> protocol.configuration(model, version).toMap());
    }

    @PostMapping({"/models/{model}/infer", "/models/{model}/versions/{version}/infer"})
    Mono<Void> infer(
            @PathVariable String model,
            @PathVariable(required = false) @Nullable String version,
            ServerWebExchange exchange) {
        OpenInference.RequestHead head = head(exchange);
        return answer(exchange, body -> protocol.infer(model, version, head, body));
    }

    @PostMapping({"/models/{model}/generate", "/models/{model}/versions/{version}/generate"})
    Mono<Void> generate(
            @PathVariable String model,
            @PathVariable(required = false) @Nullable String version,
            ServerWebExchange exchange) {
        OpenInference.RequestHead head = head(exchange);
        return answer(exchange, body -> protocol.generate(model, version, false, head, body));
    }

    @PostMapping({"/models/{model}/generate_stream", "/models/{model}/versions/{version}/generate_stream"})
    Mono<Void> generateStream(
            @PathVariable String model,
            @PathVariable(required = false) @Nullable String version,
            ServerWebExchange exchange) {
        OpenInference.RequestHead head = head(exchange);
        return answer(exchange, body -> protocol.generate(model, version, true, head, body));
    }

    private Mono<Void> answer(ServerWebExchange exchange, ReactiveBody.Reader<Received> reader) {
        return ReactiveBody.answer(exchange, limits.timeout(), body -> {
            try (Received request = reader.read(body)) {
                return request.infer();
            }
        });
    }

    private static OpenInference.RequestHead head(ServerWebExchange exchange) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        return new OpenInference.RequestHead(
                headers.getContentLength(),
                headers.getFirst(OpenInference.HEADER_LENGTH),
                headers.getFirst(HttpHeaders.CONTENT_ENCODING),
                headers.getFirst(HttpHeaders.CONTENT_TYPE));
    }

    @NotServed.Get
    Mono<Void> notGet(ServerHttpRequest request) {
        return ReactiveBody.blocking(() -> {
            throw new MethodNotAllowedException(request.getMethod(), List.of(HttpMethod.GET));
        });
    }

    @NotServed.Post
    Mono<Void> notPost(ServerHttpRequest request) {
        return ReactiveBody.blocking(() -> {
            throw new MethodNotAllowedException(request.getMethod(), List.of(HttpMethod.POST));
        });
    }

    @NotServed.Other
    Mono<Void> unknown(ServerHttpRequest request) {
        return ReactiveBody.blocking(() -> {
            throw protocol.unknown(request.getMethod().name(), request.getURI().getRawPath());
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

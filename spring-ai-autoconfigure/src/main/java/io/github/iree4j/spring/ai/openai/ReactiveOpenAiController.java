package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ai.openai.OpenAiInterface.RequestHead;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.ReactiveAnswer;
import io.github.iree4j.spring.serving.ReactiveBody;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.io.InputStream;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
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
 * OpenAI's interface with Spring WebFlux. Each request has a virtual thread. A client that leaves ends the request at
 * once.
 */
@RestController
@RequestMapping("/v1")
public final class ReactiveOpenAiController {

    private final OpenAiInterface protocol;

    /**
     * Creates a controller.
     *
     * @param models the models to serve
     * @param options the limits of the interface
     * @param limits the limits of bodies
     */
    public ReactiveOpenAiController(OpenAiModels models, OpenAiOptions options, BodyLimits limits) {
        this(new OpenAiInterface(models, options, limits));
    }

    ReactiveOpenAiController(OpenAiInterface protocol) {
        this.protocol = protocol;
    }

    /**
     * Returns a mapping like {@link OpenAiController#unservedPaths}.
     *
     * @return the mapping; for Spring to initialize
     */
    public HandlerMapping unservedPaths() {
        try {
            HandlerMethod unknown = new HandlerMethod(
                    this, ReactiveOpenAiController.class.getDeclaredMethod("unknown", ServerHttpRequest.class));
            return new SimpleUrlHandlerMapping(Map.of("/v1/**", unknown), Ordered.LOWEST_PRECEDENCE - 2);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    @GetMapping("/models")
    Mono<ResponseEntity<byte[]>> models() {
        return json(protocol::models);
    }

    @GetMapping("/models/{model}")
    Mono<ResponseEntity<byte[]>> model(@PathVariable String model) {
        return json(() -> protocol.model(model));
    }

    private static Mono<ResponseEntity<byte[]>> json(Callable<byte[]> body) {
        return ReactiveBody.blocking(() ->
                ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(body.call()));
    }

    @PostMapping("/chat/completions")
    Mono<Void> chat(ServerWebExchange exchange) {
        return answer(exchange, (head, body) -> protocol.chat(head, body, () -> false));
    }

    @PostMapping("/completions")
    Mono<Void> completions(ServerWebExchange exchange) {
        return answer(exchange, (head, body) -> protocol.completions(head, body, () -> false));
    }

    @PostMapping("/embeddings")
    Mono<Void> embeddings(ServerWebExchange exchange) {
        return answer(exchange, (head, body) -> protocol.embeddings(head, body));
    }

    private static RequestHead head(ServerWebExchange exchange, Optional<String> principal) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        return new RequestHead(
                headers.getContentLength(),
                headers.getFirst(HttpHeaders.CONTENT_TYPE),
                headers.getFirst(HttpHeaders.CONTENT_ENCODING),
                principal.orElse(null));
    }

    @FunctionalInterface
    private interface Operation {
        OpenAiAnswer answer(RequestHead head, InputStream body) throws IOException;
    }

    private Mono<Void> answer(ServerWebExchange exchange, Operation operation) {
        Holder holder = new Holder();
        return exchange.getPrincipal()
                .map(Principal::getName)
                .singleOptional()
                .flatMap(name -> ReactiveBody.read(
                        exchange.getRequest(),
                        protocol.limits().timeout(),
                        body -> holder.keep(operation.answer(head(exchange, name), body))))
                .onErrorComplete(_ -> ReactiveBody.isAnswered(exchange.getResponse()))
                .flatMap(answer -> write(answer, exchange.getResponse()))
                .doFinally(_ -> holder.close());
    }

    private Mono<Void> write(OpenAiAnswer answer, ServerHttpResponse response) {
        response.getHeaders().set(HttpHeaders.CONTENT_TYPE, answer.contentType());
        if (!answer.isStream()) {
            response.getHeaders().setContentLength(answer.length());
            return ReactiveAnswer.write(response, answer.body(), answer::writeTo);
        }
        response.getHeaders().set(HttpHeaders.CACHE_CONTROL, "no-cache");
        return ReactiveAnswer.stream(
                response,
                answer.body(),
                out -> answer.writeTo(new SteadyOutput(out, protocol.limits(), System::nanoTime)));
    }

    /** Owns an answer until the request ends, however the request ends. */
    private static final class Holder {
        private static final Object OVER = new Object();
        private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

        OpenAiAnswer keep(OpenAiAnswer made) {
            if (!state.compareAndSet(null, made)) {
                made.close();
            }
            return made;
        }

        void close() {
            if (state.getAndSet(OVER) instanceof OpenAiAnswer made) {
                made.close();
            }
        }
    }

    @RequestMapping({"/chat/completions", "/completions", "/embeddings"})
    Mono<Void> notPost(ServerHttpRequest request) {
        return ReactiveBody.blocking(() -> {
            throw new MethodNotAllowedException(request.getMethod(), List.of(HttpMethod.POST));
        });
    }

    @RequestMapping({"/models", "/models/{model}"})
    Mono<Void> notGet(ServerHttpRequest request) {
        return ReactiveBody.blocking(() -> {
            throw new MethodNotAllowedException(request.getMethod(), List.of(HttpMethod.GET));
        });
    }

    Mono<Void> unknown(ServerHttpRequest request) {
        return ReactiveBody.blocking(() -> {
            throw OpenAiInterface.unknown(
                    request.getMethod().name(), request.getURI().getRawPath());
        });
    }

    @ExceptionHandler({
        IreeException.class,
        ProgramLoadException.class,
        ErrorResponseException.class,
        JacksonException.class
    })
    ResponseEntity<byte[]> failed(Exception failure) {
        return OpenAiFailure.of(failure).response();
    }
}

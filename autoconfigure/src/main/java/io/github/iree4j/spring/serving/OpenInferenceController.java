package io.github.iree4j.spring.serving;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.status.IreeException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.HttpMediaTypeNotAcceptableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.server.MethodNotAllowedException;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;
import tools.jackson.core.JacksonException;

/** The Open Inference Protocol, version 2, over REST with Spring MVC, with the binary tensor data extension and
 * Triton's extensions for the configuration of models and for generating. */
@RestController
@RequestMapping("/v2")
@NotForApplications
public final class OpenInferenceController {

    private final OpenInference protocol;

    /**
     * Creates a controller.
     *
     * @param models the served models
     * @param invocations makes the calls
     * @param options the limits of serving
     * @param limits the limits of bodies
     */
    public OpenInferenceController(
            ServedModels models, InvocationService invocations, ServingOptions options, BodyLimits limits) {
        this.protocol = OpenInference.overHttp(models, invocations, options, limits);
    }

    /**
     * Returns a mapping of all paths below the protocol's path, behind all handlers of the application but before files,
     * so that unknown paths are answered in the protocol's form and files are not searched for them.
     *
     * @return the mapping; for Spring to initialize
     */
    public HandlerMapping unservedPaths() {
        HandlerMethod unknown = NotServed.handler(this, HttpServletRequest.class);
        return new SimpleUrlHandlerMapping(Map.of(NotServed.BELOW, unknown), NotServed.BEFORE_FILES);
    }

    /** Returns the line of inference requests. */
    RequestLine line() {
        return protocol.line();
    }

    @GetMapping({"", "/"})
    OpenInference.ServerMetadata server() {
        return protocol.server();
    }

    @GetMapping("/health/live")
    OpenInference.Live live() {
        return protocol.live();
    }

    @GetMapping("/health/ready")
    ResponseEntity<OpenInference.Ready> ready() {
        return protocol.ready();
    }

    @GetMapping({"/models/{model}/ready", "/models/{model}/versions/{version}/ready"})
    ResponseEntity<OpenInference.ModelReady> ready(
            @PathVariable String model, @PathVariable(required = false) @Nullable String version) {
        return protocol.ready(model, version);
    }

    @GetMapping({"/models/{model}", "/models/{model}/versions/{version}"})
    OpenInference.ModelMetadata model(
            @PathVariable String model, @PathVariable(required = false) @Nullable String version) {
        return protocol.model(model, version);
    }

    @GetMapping({"/models/{model}/config", "/models/{model}/versions/{version}/config"})
    Map<String, Object> configuration(
            @PathVariable String model, @PathVariable(required = false) @Nullable String version) {
        return protocol.configuration(model, version).toMap();
    }

    @PostMapping({"/models/{model}/infer", "/models/{model}/versions/{version}/infer"})
    void infer(
            @PathVariable String model,
            @PathVariable(required = false) @Nullable String version,
            HttpServletRequest request,
            HttpServletResponse response)
            throws IOException {
        answer(request, response, () -> protocol.infer(model, version, head(request), request.getInputStream()));
    }

    @PostMapping({"/models/{model}/generate", "/models/{model}/versions/{version}/generate"})
    void generate(
            @PathVariable String model,
            @PathVariable(required = false) @Nullable String version,
            HttpServletRequest request,
            HttpServletResponse response)
            throws IOException {
        answer(
                request,
                response,
                () -> protocol.generate(model, version, false, head(request), request.getInputStream()));
    }

    @PostMapping({"/models/{model}/generate_stream", "/models/{model}/versions/{version}/generate_stream"})
    void generateStream(
            @PathVariable String model,
            @PathVariable(required = false) @Nullable String version,
            HttpServletRequest request,
            HttpServletResponse response)
            throws IOException {
        answer(
                request,
                response,
                () -> protocol.generate(model, version, true, head(request), request.getInputStream()));
    }

    /** Reads a request. */
    @FunctionalInterface
    private interface Reader {
        Received read() throws IOException;
    }

    /** Answers a request. A request waiting for its turn holds no thread until dispatched again. */
    private static void answer(HttpServletRequest request, HttpServletResponse response, Reader reader)
            throws IOException {
        Received waited = WaitingRequest.of(request);
        Received received = waited != null ? waited : reader.read();
        boolean waits = false;
        try {
            waits = !received.turn().isDecided() && WaitingRequest.begin(request, received);
            if (!waits) {
                send(received.infer(), request, response);
            }
        } finally {
            if (!waits) {
                received.close();
            }
        }
    }

    private static void send(Inference inference, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        boolean detached = false;
        try {
            inference.describe(response::setHeader);
            detached = DetachedAnswer.begin(request, response, inference);
            if (!detached) {
                inference.writeTo(response.getOutputStream());
            }
        } finally {
            if (!detached) {
                inference.close();
            }
        }
    }

    private static OpenInference.RequestHead head(HttpServletRequest request) {
        return new OpenInference.RequestHead(
                request.getContentLengthLong(),
                request.getHeader(OpenInference.HEADER_LENGTH),
                request.getHeader(HttpHeaders.CONTENT_ENCODING),
                request.getContentType());
    }

    @NotServed.Get
    void notGet(HttpServletRequest request) {
        throw new MethodNotAllowedException(request.getMethod(), List.of(HttpMethod.GET));
    }

    @NotServed.Post
    void notPost(HttpServletRequest request) {
        throw new MethodNotAllowedException(request.getMethod(), List.of(HttpMethod.POST));
    }

    @NotServed.Other
    void unknown(HttpServletRequest request) {
        throw protocol.unknown(request.getMethod(), request.getRequestURI());
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

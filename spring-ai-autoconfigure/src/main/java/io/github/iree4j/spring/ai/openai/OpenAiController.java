package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ai.openai.OpenAiInterface.RequestHead;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.ClientConnection;
import io.github.iree4j.status.IreeException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
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

/**
 * OpenAI's interface with Spring MVC. A request holds its thread until the answer is written. A client that leaves is
 * noticed within a tenth of a second, also before the first token and while the model loads.
 */
@RestController
@RequestMapping("/v1")
public final class OpenAiController {

    private static final Logger log = LoggerFactory.getLogger(OpenAiController.class);

    private final OpenAiInterface protocol;

    /**
     * Creates a controller.
     *
     * @param models the models to serve
     * @param options the limits of the interface
     * @param limits the limits of bodies
     */
    public OpenAiController(OpenAiModels models, OpenAiOptions options, BodyLimits limits) {
        this(new OpenAiInterface(models, options, limits));
    }

    OpenAiController(OpenAiInterface protocol) {
        this.protocol = protocol;
    }

    /**
     * Returns a mapping of all paths below the interface's path, behind all handlers of the application but before files.
     *
     * @return the mapping; for Spring to initialize
     */
    public HandlerMapping unservedPaths() {
        try {
            HandlerMethod unknown = new HandlerMethod(
                    this, OpenAiController.class.getDeclaredMethod("unknown", HttpServletRequest.class));
            return new SimpleUrlHandlerMapping(Map.of("/v1/**", unknown), Ordered.LOWEST_PRECEDENCE - 2);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    @GetMapping("/models")
    ResponseEntity<byte[]> models() {
        return json(protocol.models());
    }

    @GetMapping("/models/{model}")
    ResponseEntity<byte[]> model(@PathVariable String model) {
        return json(protocol.model(model));
    }

    private static ResponseEntity<byte[]> json(byte[] body) {
        return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(body);
    }

    @PostMapping("/chat/completions")
    void chat(HttpServletRequest request, HttpServletResponse response) throws IOException {
        BooleanSupplier gone = gone();
        send(protocol.chat(head(request), request.getInputStream(), gone), response);
    }

    @PostMapping("/completions")
    void completions(HttpServletRequest request, HttpServletResponse response) throws IOException {
        BooleanSupplier gone = gone();
        send(protocol.completions(head(request), request.getInputStream(), gone), response);
    }

    @PostMapping("/embeddings")
    void embeddings(HttpServletRequest request, HttpServletResponse response) throws IOException {
        send(protocol.embeddings(head(request), request.getInputStream()), response);
    }

    private static BooleanSupplier gone() {
        ClientConnection connection = ClientConnection.current();
        return connection == null ? () -> false : connection::isClosed;
    }

    private static RequestHead head(HttpServletRequest request) {
        Principal principal = request.getUserPrincipal();
        return new RequestHead(
                request.getContentLengthLong(),
                request.getContentType(),
                request.getHeader(HttpHeaders.CONTENT_ENCODING),
                principal == null ? null : principal.getName());
    }

    private void send(OpenAiAnswer answer, HttpServletResponse response) throws IOException {
        @Nullable ClientConnection connection = ClientConnection.current();
        try (answer) {
            response.setContentType(answer.contentType());
            if (!answer.isStream()) {
                response.setContentLengthLong(answer.length());
                answer.writeTo(answer.body().timed(response.getOutputStream()));
                return;
            }
            response.setHeader(HttpHeaders.CACHE_CONTROL, "no-cache");
            answer.writeTo(new SteadyOutput(response.getOutputStream(), protocol.limits(), System::nanoTime));
        } catch (IOException e) { // clients decide how often
            if (connection == null || !answer.isStream()) {
                throw e;
            }
            log.debug("a stream ends early: {}", e.toString());
            connection.end();
        }
    }

    @RequestMapping({"/chat/completions", "/completions", "/embeddings"})
    void notPost(HttpServletRequest request) {
        throw new MethodNotAllowedException(request.getMethod(), List.of(HttpMethod.POST));
    }

    @RequestMapping({"/models", "/models/{model}"})
    void notGet(HttpServletRequest request) {
        throw new MethodNotAllowedException(request.getMethod(), List.of(HttpMethod.GET));
    }

    void unknown(HttpServletRequest request) {
        throw OpenAiInterface.unknown(request.getMethod(), request.getRequestURI());
    }

    @ExceptionHandler({
        IreeException.class,
        ProgramLoadException.class,
        ErrorResponseException.class,
        HttpMediaTypeNotAcceptableException.class,
        JacksonException.class
    })
    ResponseEntity<byte[]> failed(Exception failure) {
        return OpenAiFailure.of(failure).response();
    }
}

package io.github.iree4j.spring.serving;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.http.HttpStatuses;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;

/** The Open Inference Protocol, version 2, over REST, with the extension for binary tensor data. */
@RestController
@RequestMapping("/v2")
public final class OpenInferenceController {

    /** How many bytes of a body with binary data are JSON. */
    static final String HEADER_LENGTH = "Inference-Header-Content-Length";

    private static final String PLATFORM = "iree_vmfb";

    private final ServedModels models;
    private final InvocationService invocations;
    private final ServingOptions options;
    private final Semaphore permits;

    /**
     * A controller.
     *
     * @param models what is served
     * @param invocations makes the calls
     * @param options limits
     */
    public OpenInferenceController(ServedModels models, InvocationService invocations, ServingOptions options) {
        this.models = models;
        this.invocations = invocations;
        this.options = options;
        this.permits = new Semaphore(options.maxConcurrentRequests());
    }

    record ServerMetadata(String name, String version, List<String> extensions) {}

    record Live(boolean live) {}

    record Ready(boolean ready) {}

    record ModelReady(String name, boolean ready) {}

    record ModelMetadata(
            String name,
            List<String> versions,
            String platform,
            List<TensorMetadata> inputs,
            List<TensorMetadata> outputs) {}

    record TensorMetadata(String name, String datatype, List<Long> shape) {}

    record Failure(String error) {}

    // Health and metadata.

    @GetMapping
    ServerMetadata server() {
        String version = IreeRuntime.class.getPackage().getImplementationVersion();
        return new ServerMetadata("iree4j", version == null ? "development" : version, List.of("binary_tensor_data"));
    }

    @GetMapping("/health/live")
    Live live() {
        return new Live(true);
    }

    @GetMapping("/health/ready")
    ResponseEntity<Ready> ready() {
        boolean ready = models.names().stream()
                .allMatch(model -> !models.versions(model).isEmpty());
        return ResponseEntity.status(ready ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE)
                .body(new Ready(ready));
    }

    @GetMapping({"/models/{model}/ready", "/models/{model}/versions/{version}/ready"})
    ResponseEntity<ModelReady> ready(
            @PathVariable String model, @PathVariable(required = false) @Nullable String version) {
        boolean ready = models.isReady(model, version);
        return ResponseEntity.status(ready ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE)
                .body(new ModelReady(model, ready));
    }

    @GetMapping({"/models/{model}", "/models/{model}/versions/{version}"})
    ModelMetadata model(@PathVariable String model, @PathVariable(required = false) @Nullable String version) {
        Served served = models.find(model, version);
        return new ModelMetadata(
                served.name(),
                models.versions(model),
                PLATFORM,
                metadata(served.function().arguments(), "input"),
                metadata(served.function().results(), "output"));
    }

    private static List<TensorMetadata> metadata(List<ValueDeclaration> values, String otherwise) {
        List<TensorMetadata> metadata = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            ValueDeclaration value = values.get(i);
            Datatype datatype = value.elementType() == null ? null : Datatype.of(value.elementType());
            List<Long> shape = value.shape();
            metadata.add(new TensorMetadata(
                    ServedModels.name(values, i, otherwise),
                    datatype == null ? value.type() : datatype.name(),
                    shape == null ? List.of(-1L) : value.isTensor() ? shape : List.of(1L)));
        }
        return metadata;
    }

    // Inference.

    @PostMapping({"/models/{model}/infer", "/models/{model}/versions/{version}/infer"})
    void infer(
            @PathVariable String model,
            @PathVariable(required = false) @Nullable String version,
            @RequestHeader(name = HEADER_LENGTH, required = false) @Nullable Long headerLength,
            HttpServletRequest http,
            HttpServletResponse answer)
            throws IOException {
        Served served = models.find(model, version);
        RequestBody body =
                new RequestBody(http.getInputStream(), http.getContentLengthLong(), options.maxRequestSize());
        if (!permits.tryAcquire()) {
            throw new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "%d requests are in work, which is the limit; try again later, or raise 'iree.serving.max-concurrent-requests'"
                            .formatted(options.maxConcurrentRequests()));
        }
        try (InferenceRequest request = new InferenceRequestReader(
                        served.function().program(), served.function().arguments(), body)
                .read(headerLength)) {
            InferenceResponse.checkNames(request, served.function().results());
            try (Results results = call(served, request)) {
                write(new InferenceResponse(served, request, results), answer);
            }
        } finally {
            permits.release();
        }
    }

    private Results call(Served served, InferenceRequest request) {
        Object[] inputs = ScalarArguments.of(served.function().arguments(), request.inputs());
        return invocations
                .request(served.located())
                .inputs(inputs)
                .deadline(request.timeout())
                .invoke();
    }

    private static void write(InferenceResponse response, HttpServletResponse answer) throws IOException {
        if (response.isBinary()) {
            byte[] header = response.header();
            answer.setHeader(HEADER_LENGTH, Integer.toString(header.length));
            answer.setContentType(MediaType.APPLICATION_OCTET_STREAM_VALUE);
            answer.setContentLengthLong(header.length + response.binarySize());
            answer.getOutputStream().write(header);
            response.writeContents(answer.getOutputStream());
        } else {
            answer.setContentType(MediaType.APPLICATION_JSON_VALUE);
            response.writeJson(answer.getOutputStream());
        }
    }

    // Failures, in the protocol's own form.

    @ExceptionHandler
    ResponseEntity<Failure> failed(IreeException e) {
        ResponseEntity.BodyBuilder builder = ResponseEntity.status(HttpStatuses.of(e.code()));
        if (HttpStatuses.isTransient(e.code())) {
            builder.header(HttpHeaders.RETRY_AFTER, "1");
        }
        return builder.contentType(MediaType.APPLICATION_JSON).body(new Failure(e.getMessage()));
    }

    @ExceptionHandler
    ResponseEntity<Failure> refused(ErrorResponseException e) {
        HttpStatusCode status = e.getStatusCode();
        ResponseEntity.BodyBuilder builder = ResponseEntity.status(status);
        if (status.isSameCodeAs(HttpStatus.SERVICE_UNAVAILABLE)) {
            builder.header(HttpHeaders.RETRY_AFTER, "1");
        }
        return builder.contentType(MediaType.APPLICATION_JSON)
                .body(new Failure(String.valueOf(e.getBody().getDetail())));
    }

    @ExceptionHandler
    ResponseEntity<Failure> unreadable(JacksonException e) {
        String problem = e instanceof StreamConstraintsException
                ? "the JSON of the body is beyond a limit: " + e.getOriginalMessage()
                : "the body is not JSON";
        String where = e.getLocation() == null || e.getLocation().getLineNr() < 0
                ? ""
                : " (line %d, column %d)"
                        .formatted(e.getLocation().getLineNr(), e.getLocation().getColumnNr());
        return ResponseEntity.badRequest()
                .contentType(MediaType.APPLICATION_JSON)
                .body(new Failure(problem + where));
    }
}

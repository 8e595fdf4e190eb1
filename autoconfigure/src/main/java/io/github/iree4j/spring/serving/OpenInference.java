package io.github.iree4j.spring.serving;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.ValueDeclaration;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.spring.ClientText;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.InvocationSpec;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import io.github.iree4j.spring.http.RequestCounts.Work;
import io.github.iree4j.spring.serving.ServedModels.Served;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.server.ResponseStatusException;

/**
 * The protocol, independent of the web stack. Looking up a model may wait for a load, at most as long as a request waits
 * for a place, and inference blocks; other operations do not block.
 */
final class OpenInference {

    /** Header with the length of the JSON in a body with binary data. */
    static final String HEADER_LENGTH = "Inference-Header-Content-Length";

    /** Number of unread answers over HTTP, which keep no place, for each request computed at once. */
    private static final int UNREAD = 4;

    /** Priority of calls of large requests, which would make small requests wait long. */
    private static final int LARGE = -1;

    private static final String PLATFORM = "iree_vmfb";
    private static final String BINARY_DATA = "binary_tensor_data";
    private static final String CONFIGURATION = "model_configuration";
    private static final String GENERATE = "generate";
    private static final String MODEL_REPOSITORY = "model_repository";

    private final ServedModels models;
    private final InvocationService invocations;
    private final ServingOptions options;
    private final BodyLimits limits;
    private final RequestLine line;
    private final Semaphore unread;

    /** Creates the protocol over HTTP, with either web stack. */
    static OpenInference overHttp(
            ServedModels models, InvocationService invocations, ServingOptions options, BodyLimits limits) {
        return new OpenInference(
                models,
                invocations,
                options,
                limits,
                UNREAD * options.maxConcurrentRequests(),
                Work.HTTP,
                Work.HTTP_WAITING);
    }

    /**
     * Creates the protocol.
     *
     * @param unread maximum number of unread answers whose requests keep no place
     * @param kind kind of work for requests being computed, or keeping a place for an unread answer
     * @param waiting kind of work for requests waiting to be computed
     */
    OpenInference(
            ServedModels models,
            InvocationService invocations,
            ServingOptions options,
            BodyLimits limits,
            int unread,
            Work kind,
            Work waiting) {
        this.models = models;
        this.invocations = invocations;
        this.options = options;
        this.limits = limits;
        this.line = new RequestLine(options.maxConcurrentRequests(), options.maxWait(), () -> {
            limits.counts().refuse(Reason.REQUESTS);
            limits.makePlace();
        });
        this.unread = new Semaphore(unread);
        limits.counts().measure(kind, line::computed);
        limits.counts().measure(waiting, line::waiting);
    }

    RequestLine line() {
        return line;
    }

    /** Returns the place of a request that will be answered. */
    KeptPlace place(RequestLine.Turn turn, LimitedBody body) {
        return new KeptPlace(turn, body, unread);
    }

    record ServerMetadata(String name, String version, List<String> extensions) {}

    record Live(boolean live) {}

    /**
     * Whether the server is ready.
     *
     * @param ready the member sent by servers and read by clients
     * @param live true: the member of this answer in the text of the protocol
     */
    record Ready(boolean ready, boolean live) {}

    record ModelReady(String name, boolean ready) {}

    record ModelMetadata(
            String name,
            List<String> versions,
            String platform,
            List<TensorMetadata> inputs,
            List<TensorMetadata> outputs) {}

    record TensorMetadata(String name, String datatype, List<Long> shape) {}

    // Health and metadata.

    ServerMetadata server() {
        String version = IreeRuntime.class.getPackage().getImplementationVersion();
        return new ServerMetadata(
                "iree4j",
                version == null ? "development" : version,
                options.repository()
                        ? List.of(BINARY_DATA, CONFIGURATION, GENERATE, MODEL_REPOSITORY)
                        : List.of(BINARY_DATA, CONFIGURATION, GENERATE));
    }

    /** Returns the failure for a request whose path is not part of the protocol, or part of an extension that is not served. */
    IreeException unknown(String method, String path) {
        String request = "there is no '%s %s'".formatted(method, Datatype.shortened(path));
        String text = path.contains("/v2/repository") && !options.repository()
                ? request + ": the repository is not served; set 'iree.serving.repository=true'"
                : "%s; of the extensions there are %s".formatted(request, server().extensions());
        return IreeException.of(StatusCode.NOT_FOUND, text, null, new ClientText(text)); // the path is the client's
    }

    Live live() {
        return new Live(true);
    }

    ResponseEntity<Ready> ready() {
        boolean ready = models.isReady();
        return ResponseEntity.status(status(ready)).body(new Ready(ready, true));
    }

    ResponseEntity<ModelReady> ready(String model, @Nullable String version) {
        boolean ready = models.isReady(model, version);
        return ResponseEntity.status(status(ready)).body(new ModelReady(model, ready));
    }

    private static HttpStatus status(boolean ready) {
        return ready ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE;
    }

    ModelMetadata model(String model, @Nullable String version) {
        Served served = models.find(model, version, options.maxWait());
        return new ModelMetadata(
                served.name(),
                models.versions(model),
                PLATFORM,
                metadata(served, served.function().arguments(), "input"),
                metadata(served, served.function().results(), "output"));
    }

    ModelConfiguration configuration(String model, @Nullable String version) {
        return ModelConfiguration.of(models.find(model, version, options.maxWait()), PLATFORM);
    }

    private static List<TensorMetadata> metadata(Served served, List<ValueDeclaration> values, String otherwise) {
        List<TensorMetadata> metadata = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            String name = ValueDeclaration.name(values, i, otherwise);
            ValueDeclaration value = values.get(i);
            metadata.add(new TensorMetadata(name, served.datatype(name, value), served.shape(name, value)));
        }
        return metadata;
    }

    // Inference.

    /**
     * Reads a request and assigns a turn to the request.
     *
     * @param model the model's name
     * @param version the model's version; null for the latest loaded version
     * @param head the headers of the request
     * @param in the request's body; read as far as needed, not closed
     * @return the request; makes the call when the request's turn comes
     * @throws IreeException RESOURCE_EXHAUSTED also when too many requests wait, usually before anything is read
     */
    Received infer(String model, @Nullable String version, RequestHead head, InputStream in) throws IOException {
        return infer(
                model,
                version,
                head,
                in,
                (served, body) -> new InferenceRequestReader(
                                served.function().program(), served.function().arguments(), body)
                        .read(head.inferenceHeader()),
                InferenceResponse::new);
    }

    /**
     * Reads a request of Triton's generate extension, like {@code infer}.
     *
     * @param stream whether the response is a stream of events; the stream has one event, since functions return once
     */
    Received generate(String model, @Nullable String version, boolean stream, RequestHead head, InputStream in)
            throws IOException {
        return infer(
                model,
                version,
                head,
                in,
                (served, body) -> new GenerateRequestReader(served, body).read(),
                (served, request, results) -> new GenerateResponse(served, request, results, stream));
    }

    /** Reads a request. */
    @FunctionalInterface
    private interface Reader {
        InferenceRequest read(Served served, LimitedBody body) throws IOException;
    }

    private Received infer(
            String model,
            @Nullable String version,
            RequestHead head,
            InputStream in,
            Reader reader,
            Inference.Responder responder)
            throws IOException {
        line.checkRoom();
        head.requireReadable();
        Served served = models.find(model, version, options.maxWait());
        LimitedBody body = limits.receive(in, head.length(), options.maxRequestSize(), BodyLimits.SIZE);
        InferenceRequest request = null;
        Received received = null;
        try {
            request = reader.read(served, body);
            Deadline deadline = request.timeout() == null ? null : Deadline.after(request.timeout());
            InvocationSpec call =
                    call(served, request, body).deadline(deadline); // fails for non-scalars: before the turn
            RequestLine.Turn turn = join(served, request, deadline);
            received = new Received(served, request, body, turn, call, responder, place(turn, body));
            return received;
        } finally {
            if (received == null) {
                if (request != null) {
                    request.close();
                }
                body.close();
            }
        }
    }

    /**
     * Lines a request up, but only after the body has arrived: arrival depends on the client.
     *
     * @param deadline of the request; null for none
     * @return the request's turn, which must be left
     * @throws IreeException INVALID_ARGUMENT when a requested output does not exist; RESOURCE_EXHAUSTED when there are
     *     too many requests
     */
    RequestLine.Turn join(Served served, InferenceRequest request, @Nullable Deadline deadline) {
        InferenceOutput.checkNames(request, served.function().results());
        return line.join(deadline == null ? null : deadline.left());
    }

    /**
     * Builds the requested call, without a time limit.
     *
     * @throws IreeException INVALID_ARGUMENT for inputs that must not reach the program
     */
    InvocationSpec call(Served served, InferenceRequest request, LimitedBody body) {
        SharedSizes.check(served, request.inputs());
        ValueRange.check(served, request.inputs(), body);
        return invocations
                .request(served.located())
                .inputs(ScalarArguments.of(served.function().arguments(), request.inputs()))
                .priority(body.isSmall() ? 0 : LARGE);
    }

    /**
     * The relevant headers of a request.
     *
     * @param length length of the body in bytes; negative when unknown
     * @param inferenceHeaderLength length of the JSON in bytes; null when the whole body is JSON
     * @param encoding content encoding; null for none
     * @param type content type; null for none
     */
    record RequestHead(
            long length,
            @Nullable String inferenceHeaderLength,
            @Nullable String encoding,
            @Nullable String type) {

        /** The reason for the refusal of a form. */
        static final String FORM =
                "forms and multipart bodies are not supported; send JSON with 'Content-Type: application/json', or JSON and binary tensor data";

        /** Returns whether a content type is a form's. */
        static boolean isForm(@Nullable String type) {
            return isMultipart(type) || plain(type).startsWith(MediaType.APPLICATION_FORM_URLENCODED_VALUE);
        }

        static boolean isMultipart(@Nullable String type) {
            return plain(type).startsWith("multipart/");
        }

        private static String plain(@Nullable String type) {
            return type == null ? "" : type.strip().toLowerCase(Locale.ROOT);
        }

        private void requireReadable() {
            if (isForm(type)) {
                throw new ResponseStatusException(HttpStatus.UNSUPPORTED_MEDIA_TYPE, FORM);
            }
            if (encoding != null && !encoding.strip().toLowerCase(Locale.ROOT).equals("identity")) {
                throw new ResponseStatusException(
                        HttpStatus.UNSUPPORTED_MEDIA_TYPE,
                        "'Content-Encoding' is '%s'; bodies must be uncompressed"
                                .formatted(Datatype.shortened(encoding)));
            }
        }

        @Nullable
        Long inferenceHeader() {
            if (inferenceHeaderLength == null) {
                return null;
            }
            try {
                return Long.valueOf(inferenceHeaderLength.strip());
            } catch (NumberFormatException e) {
                throw InferenceRequest.invalid("'%s' is '%s', which is not a number of bytes"
                        .formatted(HEADER_LENGTH, Datatype.shortened(inferenceHeaderLength)));
            }
        }
    }
}

package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.spring.ClientText;
import io.github.iree4j.spring.RetryLater;
import io.github.iree4j.spring.ai.ChatEngine;
import io.github.iree4j.spring.ai.IreeChatModel;
import io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.ClientWatches;
import io.github.iree4j.spring.http.LimitedBody;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.status.TransientFailureException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The interface, independent of the web stack. Blocks until an answer is complete, or the stream begins. Thread-safe. */
final class OpenAiInterface {

    /** The reason for the refusal of a form. */
    static final String FORM =
            "forms and multipart bodies are not supported; send JSON with 'Content-Type: application/json'";

    private static final String PLACES = "iree.openai.max-concurrent-requests";

    private final @Nullable ChatEngine chat;
    private final @Nullable IreeEmbeddingModel embedding;
    private final OpenAiOptions options;
    private final BodyLimits limits;
    private final long started;
    private final Semaphore places;
    private final ThreadDeadlines deadlines = new ThreadDeadlines();
    private final ClientWatches watches = new ClientWatches(Duration.ofMillis(100));

    OpenAiInterface(OpenAiModels models, OpenAiOptions options, BodyLimits limits) {
        IreeChatModel chatModel = models.chat();
        this.chat = chatModel == null ? null : ChatEngine.of(chatModel);
        this.embedding = models.embedding();
        this.options = options;
        this.limits = limits;
        this.started = Instant.now().getEpochSecond();
        this.places = new Semaphore(options.maxConcurrentRequests());
    }

    BodyLimits limits() {
        return limits;
    }

    /**
     * The relevant headers of a request.
     *
     * @param length length of the body in bytes; negative when unknown
     * @param type content type; null for none
     * @param encoding content encoding; null for none
     * @param principal name of the authenticated caller; null for none
     */
    record RequestHead(
            long length,
            @Nullable String type,
            @Nullable String encoding,
            @Nullable String principal) {

        private void requireReadable() {
            String plain = type == null ? "" : type.strip().toLowerCase(Locale.ROOT);
            if (plain.startsWith("multipart/") || plain.startsWith("application/x-www-form-urlencoded")) {
                throw new ResponseStatusException(HttpStatus.UNSUPPORTED_MEDIA_TYPE, FORM);
            }
            if (encoding != null && !encoding.strip().toLowerCase(Locale.ROOT).equals("identity")) {
                throw new ResponseStatusException(
                        HttpStatus.UNSUPPORTED_MEDIA_TYPE,
                        "'Content-Encoding' is '%s'; bodies must be uncompressed"
                                .formatted(RequestFault.shortened(encoding)));
            }
        }
    }

    /** Returns the models. */
    byte[] models() {
        ObjectNode root = JsonMapper.shared().createObjectNode().put("object", "list");
        ArrayNode data = root.putArray("data");
        names().forEach(name -> data.add(description(name)));
        return JsonMapper.shared().writeValueAsBytes(root);
    }

    /** Returns a model. */
    byte[] model(String name) {
        if (!names().contains(name)) {
            throw RequestFault.notFound(
                    "model",
                    "model_not_found",
                    "there is no model '%s'; there are %s".formatted(RequestFault.shortened(name), names()));
        }
        return JsonMapper.shared().writeValueAsBytes(description(name));
    }

    private List<String> names() {
        ChatEngine generating = chat;
        IreeEmbeddingModel embeds = embedding;
        return Stream.of(generating == null ? null : generating.model(), embeds == null ? null : embeds.model())
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    private ObjectNode description(String name) {
        return JsonMapper.shared()
                .createObjectNode()
                .put("id", name)
                .put("object", "model")
                .put("created", started)
                .put("owned_by", "iree4j");
    }

    /**
     * Answers a request for a chat completion.
     *
     * @param in the body; read as far as needed, not closed
     * @param gone asked at each token, and about ten times per second while this or the answer waits, whether the client
     *     has gone; by one thread at a time, after the body was read
     * @return the answer, or the begin of its stream; closed by the caller
     */
    OpenAiAnswer chat(RequestHead head, InputStream in, BooleanSupplier gone) {
        ChatEngine engine = require(chat);
        return generate(
                engine,
                read(head, in, request -> awaiting(gone, () -> ChatRequestReader.read(request, engine, tenant(head)))),
                gone);
    }

    /** Answers a request for completions, as {@link #chat}. */
    OpenAiAnswer completions(RequestHead head, InputStream in, BooleanSupplier gone) {
        ChatEngine engine = require(chat);
        return generate(
                engine,
                read(
                        head,
                        in,
                        request -> awaiting(gone, () -> CompletionRequestReader.read(request, engine, tenant(head)))),
                gone);
    }

    /** Returns the tenant of a request; null for the parameter of the request. */
    private @Nullable String tenant(RequestHead head) {
        return switch (options.tenant()) {
            case USER -> null;
            case PRINCIPAL -> Objects.requireNonNullElse(head.principal(), "");
        };
    }

    private static ChatEngine require(@Nullable ChatEngine engine) {
        if (engine == null) {
            throw RequestFault.notFound(
                    null, "model_not_found", "there is no model that generates text; set 'iree.ai.chat.module'");
        }
        return engine;
    }

    private OpenAiAnswer generate(ChatEngine engine, GenerationCall call, BooleanSupplier gone) {
        int quota = engine.settings().requestsPerTenant();
        if (call.requests().size() > quota) { // would be refused for ever
            throw RequestFault.invalid(
                    "n",
                    "%d answers are requested at once, but a tenant has at most %d unfinished requests; send several requests"
                            .formatted(call.requests().size(), quota));
        }
        Runnable leave = enter();
        Completion completion = null;
        OpenAiAnswer answer = null;
        try (LimitedBody building = answerBody()) {
            completion = awaiting(gone, () -> submit(engine, call));
            answer = call.parameters().stream()
                    ? OpenAiAnswer.stream(completion, gone, answerBody(), leave)
                    : whole(completion.whole(gone, building::charge), leave);
            return answer;
        } finally {
            if (answer == null) {
                if (completion != null) {
                    completion.cancel();
                }
                leave.run();
            }
        }
    }

    /** Does work that may wait for the model to be loaded: the thread is interrupted when the client has gone. */
    private <T> T awaiting(BooleanSupplier gone, Supplier<T> work) {
        ThreadDeadlines.Work here = deadlines.begin(null);
        ClientWatches.Watch watch = watches.begin(gone, here::interrupt);
        try {
            return work.get();
        } finally {
            watch.end();
            here.end();
        }
    }

    private Completion submit(ChatEngine engine, GenerationCall call) {
        try {
            return Completion.submit(call, engine);
        } catch (TransientFailureException e) {
            if (e.code() == StatusCode.RESOURCE_EXHAUSTED) { // too many requests wait: 429, which keeps the connection
                throw busy(e.getMessage());
            }
            throw e;
        } catch (IreeException e) {
            if (e.code() == StatusCode.INVALID_ARGUMENT && isTooLong(engine, call)) {
                String text = ClientText.of(e);
                throw IreeException.of(
                        e.code(), text, e, new RequestFault(text, call.form().prompt, "context_length_exceeded"));
            }
            throw e;
        }
    }

    private static boolean isTooLong(ChatEngine engine, GenerationCall call) {
        int most = Objects.requireNonNullElse(call.parameters().maxTokens(), 1);
        return call.requests().stream().anyMatch(each -> (long) each.prompt().length + most > engine.maximumTokens());
    }

    /** Answers a request for embeddings, as {@link #chat}. */
    OpenAiAnswer embeddings(RequestHead head, InputStream in) {
        IreeEmbeddingModel model = embedding;
        if (model == null) {
            throw RequestFault.notFound(
                    null, "model_not_found", "there is no model that embeds texts; set 'iree.ai.embedding.module'");
        }
        Embeddings request = read(head, in, body -> Embeddings.read(body, model));
        Runnable leave = enter();
        OpenAiAnswer answer = null;
        try {
            EmbeddingResponse response = request.call(model);
            try (LimitedBody building = answerBody()) {
                building.charge(request.size(response));
                answer = whole(request.answer(response, model.model()), leave);
            }
            return answer;
        } finally {
            if (answer == null) {
                leave.run();
            }
        }
    }

    /** Reads a body: its memory is free when the request is known. */
    private <T> T read(RequestHead head, InputStream in, Function<RequestObject, T> reader) {
        head.requireReadable();
        try (LimitedBody body = limits.receive(in, head.length(), options.maxRequestSize(), BodyLimits.SIZE)) {
            return reader.apply(RequestObject.read(body.weighing(RequestObject.WEIGHT)));
        }
    }

    private OpenAiAnswer whole(ObjectNode json, Runnable leave) {
        byte[] bytes = JsonMapper.shared().writeValueAsBytes(json);
        LimitedBody body = answerBody();
        boolean made = false;
        try {
            body.chargeAnswer(bytes.length);
            body.answered();
            made = true;
            return OpenAiAnswer.whole(bytes, body, leave);
        } finally {
            if (!made) {
                body.close();
            }
        }
    }

    private LimitedBody answerBody() {
        return limits.receive(InputStream.nullInputStream(), 0, 0, null);
    }

    /** Takes a place among requests being computed, and returns how the request gives the place back. */
    private Runnable enter() {
        if (!places.tryAcquire()) {
            limits.counts().refuse(Reason.REQUESTS);
            throw busy("%d requests are computed; try again later, or raise '%s'"
                    .formatted(options.maxConcurrentRequests(), PLACES));
        }
        return places::release;
    }

    private static IreeException busy(String why) {
        return IreeException.of(StatusCode.RESOURCE_EXHAUSTED, why, null, new RetryLater(Duration.ofSeconds(1)));
    }

    /** Returns the failure for a path that is no part of the interface, or not served. */
    static IreeException unknown(String method, String path) {
        return RequestFault.notFound(
                null,
                null,
                "there is no '%s %s' here; there are chat/completions, completions, embeddings and models"
                        .formatted(method, RequestFault.shortened(path)));
    }
}

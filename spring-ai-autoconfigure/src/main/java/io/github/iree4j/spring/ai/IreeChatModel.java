package io.github.iree4j.spring.ai;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.generation.sampling.SamplingOptions;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.observation.ChatModelObservationContext;
import org.springframework.ai.chat.observation.ChatModelObservationConvention;
import org.springframework.ai.chat.observation.ChatModelObservationDocumentation;
import org.springframework.ai.chat.observation.DefaultChatModelObservationConvention;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.observation.conventions.AiOperationType;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.util.Assert;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * Answers messages with a language model loaded by the application. The requests of an application share the model step
 * by step; an answer does not depend on the others.
 *
 * <p>Messages and tools are written by the model's chat template, and tokenized. The answer ends with a stop token or at
 * a stop sequence ({@code stop}), or with the maximum of tokens ({@code length}). Of calls of tools in the answer, the
 * finish reason is {@code tool_calls}; the model runs no tools.
 *
 * <p><b>Streams.</b> Nothing happens before the subscription; each subscription is a new request. Chunks have
 * whole characters. The last chunk has the finish reason, calls of tools and usage. Cancelling the subscription ends the
 * request: its memory is free at the next step.
 *
 * <p><b>Failures</b> are {@link IreeException}s, thrown or as the error of the stream: INVALID_ARGUMENT for messages,
 * options or lengths that the model cannot have, DEADLINE_EXCEEDED after the timeout, CANCELLED when the thread is
 * interrupted or the model is closed, RESOURCE_EXHAUSTED when too many requests wait.
 *
 * <p>Thread-safe. Must be closed before the programs.
 */
public final class IreeChatModel implements ChatModel, AutoCloseable {

    /** The name of the provider in observations. */
    public static final String PROVIDER = "iree";

    private static final ChatModelObservationConvention DEFAULT_CONVENTION =
            new DefaultChatModelObservationConvention();

    private final ChatSettings settings;
    private final ChatEngine engine;
    private final ObservationRegistry observations;
    private final @Nullable ChatModelObservationConvention convention;

    /**
     * Creates a model.
     *
     * @param programs source of the program; the program need not be loaded yet
     * @param settings files of the model, and defaults of requests
     * @param observations receives the observations of requests
     * @param convention names and tags of observations; null for the default
     * @throws IreeException when tokenizer or template cannot be used
     */
    public IreeChatModel(
            Programs programs,
            ChatSettings settings,
            ObservationRegistry observations,
            @Nullable ChatModelObservationConvention convention) {
        this(new GeneratorSource(programs, settings), settings, observations, convention);
    }

    IreeChatModel(
            TokenSource source,
            ChatSettings settings,
            ObservationRegistry observations,
            @Nullable ChatModelObservationConvention convention) {
        this.settings = settings;
        this.observations = observations;
        this.convention = convention;
        this.engine = new ChatEngine(source, settings);
    }

    /** Returns the engine, closed with this model. */
    ChatEngine engine() {
        return engine;
    }

    /**
     * Prepares a loaded program: allocates the cache, and checks that the program generates text.
     *
     * @throws IreeException when the program does not, describing why
     */
    public void check() {
        engine.check();
    }

    /** Returns the name of the model: the name of the program. */
    public String model() {
        return settings.module();
    }

    /** Returns the defaults of requests. */
    @Override
    public ChatOptions getOptions() {
        return IreeChatOptions.builder()
                .model(model())
                .defaultMaxTokens(settings.maxTokens())
                .temperature(settings.temperature())
                .topK(settings.topK())
                .topP(settings.topP())
                .seed(settings.seed())
                .timeout(settings.timeout())
                .build();
    }

    @Override
    public ChatResponse call(Prompt prompt) {
        Assert.notNull(prompt, "'prompt' must not be null");
        Prompt whole = completed(prompt);
        ChatModelObservationContext context = context(whole, false);
        return Objects.requireNonNull(observation(context).observe(() -> {
            StringBuilder text = new StringBuilder();
            Request request = new Request(whole);
            request.run(text::append);
            ChatResponse response = request.response(text.toString());
            context.setResponse(response);
            return response;
        }));
    }

    @Override
    public Flux<ChatResponse> stream(Prompt prompt) {
        Assert.notNull(prompt, "'prompt' must not be null");
        return Flux.deferContextual(subscriber -> {
            Prompt whole = completed(prompt);
            ChatModelObservationContext context = context(whole, true);
            Observation observation = observation(context)
                    .parentObservation(subscriber.getOrDefault(ObservationThreadLocalAccessor.KEY, null))
                    .start();
            return Flux.<ChatResponse>create(sink -> start(new Request(whole), context, sink))
                    .doOnError(observation::error)
                    .doFinally(_ -> observation.stop())
                    .contextWrite(inner -> inner.put(ObservationThreadLocalAccessor.KEY, observation));
        });
    }

    /** Runs a request on a virtual thread, which waits for tokens. */
    private static void start(Request request, ChatModelObservationContext context, FluxSink<ChatResponse> sink) {
        sink.onDispose(request::cancel);
        Thread.ofVirtual().name("iree4j-chat").start(() -> {
            try {
                StringBuilder text = new StringBuilder();
                request.run(piece -> {
                    text.append(piece);
                    sink.next(request.chunk(piece));
                });
                context.setResponse(request.response(text.toString()));
                sink.next(request.response(""));
                sink.complete();
            } catch (Throwable e) {
                if (!sink.isCancelled()) { // nobody is there for the failure of a cancelled request
                    sink.error(e);
                }
            }
        });
    }

    private Prompt completed(Prompt prompt) {
        ChatOptions given = prompt.getOptions();
        ChatOptions all = given == null
                ? getOptions()
                : getOptions().mutate().combineWith(given.mutate()).build();
        return new Prompt(prompt.getInstructions(), all);
    }

    private static ChatModelObservationContext context(Prompt prompt, boolean streaming) {
        return ChatModelObservationContext.builder()
                .prompt(prompt)
                .provider(PROVIDER)
                .streaming(streaming)
                .build();
    }

    private Observation observation(ChatModelObservationContext context) {
        return ChatModelObservationDocumentation.CHAT_MODEL_OPERATION.observation(
                convention, DEFAULT_CONVENTION, () -> context, observations);
    }

    /** Ends all requests with CANCELLED, and frees the cache. Idempotent. */
    @Override
    public void close() {
        engine.close();
    }

    /** A request, run once. {@link #cancel} is thread-safe. */
    private final class Request {
        private final String id = UUID.randomUUID().toString();
        private final Prompt prompt;
        private final IreeChatOptions options;
        private final AtomicReference<@Nullable ChatAnswer> answer = new AtomicReference<>();
        private volatile boolean cancelled;

        Request(Prompt prompt) {
            this.prompt = prompt;
            this.options = (IreeChatOptions) Objects.requireNonNull(prompt.getOptions());
        }

        void cancel() {
            cancelled = true;
            ChatAnswer running = answer.get();
            if (running != null) {
                running.cancel();
            }
        }

        /** Generates the answer, and passes the text on piece by piece. */
        void run(ChatAnswer.Reader pieces) {
            ChatAnswer running = engine.submit(request());
            answer.set(running);
            if (cancelled) { // before the request was known
                running.cancel();
                throw running.cancelled(null);
            }
            running.read(pieces);
        }

        private ChatEngine.Request request() {
            ChatEngine.check(
                    model().equals(options.getModel()),
                    "model '%s' was requested, but this is '%s'; name that model or none"
                            .formatted(options.getModel(), model()));
            String choice = Objects.requireNonNullElse(options.getToolChoice(), "auto");
            boolean isCall = !choice.equals("auto") && !choice.equals("none");
            ChatPrompt chat = ChatPrompt.of(prompt.getInstructions(), tools(choice));
            Deadline deadline = engine.begin(options.getTimeout());
            return new ChatEngine.Request(
                    isCall ? engine.encodeForCall(chat) : engine.encode(chat),
                    chat.toolNames(),
                    chat.toolCalls(),
                    isCall,
                    List.copyOf(Objects.requireNonNullElse(options.getStopSequences(), List.of())),
                    options.givenMaxTokens(),
                    sampling(chat, isCall),
                    deadline,
                    Objects.requireNonNullElse(options.getTenant(), ""),
                    AiOperationType.CHAT);
        }

        /** Returns the tools that the answer may call. */
        private List<ToolCallback> tools(String choice) {
            List<ToolCallback> all = Objects.requireNonNullElse(options.getToolCallbacks(), List.of());
            List<ToolCallback> chosen = switch (choice) {
                case "none" -> List.of();
                case "auto", "required" -> all;
                default ->
                    all.stream()
                            .filter(each -> each.getToolDefinition().name().equals(choice))
                            .toList();
            };
            ChatEngine.check(
                    !chosen.isEmpty() || choice.equals("none") || choice.equals("auto"),
                    "the tool choice is '%s', but the tools are %s; offer the tool, or choose 'auto'"
                            .formatted(
                                    choice,
                                    all.stream()
                                            .map(each ->
                                                    each.getToolDefinition().name())
                                            .toList()));
            return chosen;
        }

        private SamplingOptions sampling(ChatPrompt chat, boolean isCall) {
            SamplingOptions.Builder sampling = engine.sampling();
            Optional.ofNullable(options.getTemperature())
                    .ifPresent(each -> sampling.temperature((float) (double) each));
            Optional.ofNullable(options.getTopK()).ifPresent(sampling::topK);
            Optional.ofNullable(options.getTopP()).ifPresent(each -> sampling.topP((float) (double) each));
            Optional.ofNullable(options.getMinP()).ifPresent(each -> sampling.minP((float) (double) each));
            Optional.ofNullable(options.getFrequencyPenalty())
                    .ifPresent(each -> sampling.frequencyPenalty((float) (double) each));
            Optional.ofNullable(options.getPresencePenalty())
                    .ifPresent(each -> sampling.presencePenalty((float) (double) each));
            Optional.ofNullable(options.getRepetitionPenalty())
                    .ifPresent(each -> sampling.repetitionPenalty((float) (double) each));
            Optional.ofNullable(options.getSeed()).ifPresent(sampling::seed);
            String schema = options.getOutputSchema();
            if (schema != null) {
                ChatEngine.check(!schema.isBlank(), "the output schema is empty; give a JSON schema or none");
                ChatEngine.check(
                        chat.tools().isEmpty(),
                        "an output schema and tools are requested, but an answer by the schema calls no tools; leave one out");
                sampling.constraint(engine.constraint(schema));
            }
            if (isCall) {
                sampling.constraint(engine.callConstraint(chat.tools()));
            }
            return sampling.build();
        }

        /** Returns a part of the answer. */
        ChatResponse chunk(String text) {
            return new ChatResponse(
                    List.of(new Generation(new AssistantMessage(text))),
                    ChatResponseMetadata.builder().id(id).model(model()).build());
        }

        /** Returns the end of the answer, with a text. */
        ChatResponse response(String text) {
            ChatAnswer ended = Objects.requireNonNull(answer.get());
            AssistantMessage message = AssistantMessage.builder()
                    .content(text)
                    .toolCalls(ended.toolCalls())
                    .build();
            ChatGenerationMetadata metadata = ChatGenerationMetadata.builder()
                    .finishReason(ended.finishReason())
                    .build();
            Usage usage = new DefaultUsage(
                    ended.promptTokens(),
                    ended.completionTokens(),
                    ended.promptTokens() + ended.completionTokens(),
                    null,
                    (long) ended.sharedTokens(),
                    null);
            return new ChatResponse(
                    List.of(new Generation(message, metadata)),
                    ChatResponseMetadata.builder()
                            .id(id)
                            .model(model())
                            .usage(usage)
                            .build());
        }
    }
}

package io.github.iree4j.spring.ai;

import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.GenerationResult.FinishReason;
import io.github.iree4j.generation.SamplingOptions;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
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
 * <p><b>Streams.</b> Nothing happens before the subscription; each subscription is a request of its own. Chunks have
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
    private static final int MOST_STOP_SEQUENCES = 64;

    private final ChatSettings settings;
    private final ChatTokenizer tokenizer;
    private final ChatTemplate template;
    private final Set<Integer> stopTokens;
    private final TokenSource source;
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
        this(
                new GeneratorSource(programs, settings.module(), settings.config(), settings.pages()),
                settings,
                observations,
                convention);
    }

    IreeChatModel(
            TokenSource source,
            ChatSettings settings,
            ObservationRegistry observations,
            @Nullable ChatModelObservationConvention convention) {
        this.source = source;
        this.settings = settings;
        this.observations = observations;
        this.convention = convention;
        this.template = ChatTemplate.load(settings.tokenizer(), settings.template());
        this.tokenizer = ChatTokenizer.load(settings.tokenizer());
        try {
            this.stopTokens =
                    tokenizer.tokens(settings.stopTokens().isEmpty() ? template.stopTokens() : settings.stopTokens());
        } catch (RuntimeException e) {
            tokenizer.close();
            throw e;
        }
    }

    /**
     * Prepares a loaded program: allocates the cache, and checks that the program generates text.
     *
     * @throws IreeException when the program does not, describing why
     */
    public void check() {
        source.check(tokenizer.size());
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
                .maxTokens(settings.maxTokens())
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
        source.close();
        tokenizer.close();
    }

    /** A request, run once. {@link #cancel} is thread-safe. */
    private final class Request {
        private final String id = UUID.randomUUID().toString();
        private final Prompt prompt;
        private final IreeChatOptions options;
        private final AtomicReference<TokenSource.@Nullable Tokens> tokens = new AtomicReference<>();
        private volatile boolean cancelled;
        private int promptTokens;
        private int completionTokens;
        private int sharedTokens;
        private String finishReason = "";
        private List<ToolCall> toolCalls = List.of();

        Request(Prompt prompt) {
            this.prompt = prompt;
            this.options = (IreeChatOptions) Objects.requireNonNull(prompt.getOptions());
        }

        void cancel() {
            cancelled = true;
            TokenSource.Tokens running = tokens.get();
            if (running != null) {
                running.cancel();
            }
        }

        /** Generates the answer, and passes the text on piece by piece. */
        void run(Consumer<String> pieces) {
            List<String> stops = stopSequences();
            ChatPrompt chat = ChatPrompt.of(
                    prompt.getInstructions(), Objects.requireNonNullElse(options.getToolCallbacks(), List.of()));
            TokenSource.Tokens running = source.submit(request(tokenizer.encode(template.render(chat))));
            tokens.set(running);
            try {
                if (cancelled) { // before the request was known
                    throw cancelled(null);
                }
                Answer answer = new Answer(stops, chat, pieces);
                boolean stopped = answer.read(running);
                sharedTokens = running.sharedTokens();
                boolean complete = stopped || running.reason() == FinishReason.STOP;
                answer.finish(complete);
                finishReason = !toolCalls.isEmpty() ? "tool_calls" : complete ? "stop" : "length";
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw cancelled(e);
            } finally {
                running.cancel(); // no effect after the last token
            }
        }

        private IreeException cancelled(@Nullable Throwable cause) {
            return IreeException.of(
                    StatusCode.CANCELLED,
                    "a request of '%s' was %s".formatted(model(), cause == null ? "cancelled" : "interrupted"),
                    cause);
        }

        private List<String> stopSequences() {
            check(
                    model().equals(options.getModel()),
                    "model '%s' was requested, but this is '%s'; name that model or none"
                            .formatted(options.getModel(), model()));
            check(
                    isZero(options.getFrequencyPenalty()) && isZero(options.getPresencePenalty()),
                    "penalties are requested, which '%s' does not have; set none".formatted(model()));
            List<String> stops = options.getStopSequences();
            if (stops == null) {
                return List.of();
            }
            check(
                    stops.size() <= MOST_STOP_SEQUENCES,
                    "%d stop sequences are requested, at most %d are possible"
                            .formatted(stops.size(), MOST_STOP_SEQUENCES));
            check(stops.stream().noneMatch(String::isEmpty), "a stop sequence is empty; give a character or more");
            return List.copyOf(stops);
        }

        private static boolean isZero(@Nullable Double penalty) {
            return penalty == null || penalty == 0;
        }

        private static void check(boolean valid, String otherwise) {
            if (!valid) {
                throw IreeException.of(StatusCode.INVALID_ARGUMENT, otherwise);
            }
        }

        private GenerationRequest request(int[] encoded) {
            promptTokens = encoded.length;
            int most = Objects.requireNonNullElse(options.getMaxTokens(), settings.maxTokens());
            if (most == settings.maxTokens()) { // the default is as many as fit
                most = Math.clamp(source.maximumTokens() - encoded.length, 1, most);
            }
            Duration timeout = options.getTimeout();
            check(
                    timeout == null || timeout.isPositive(),
                    "the timeout is %s, not positive".formatted(timeout == null ? "" : DurationText.of(timeout)));
            return GenerationRequest.of(most, encoded)
                    .stopAt(stopTokens)
                    .sampling(sampling())
                    .timeout(timeout);
        }

        private SamplingOptions sampling() {
            double temperature = Objects.requireNonNullElse(options.getTemperature(), settings.temperature());
            Long seed = options.getSeed();
            return SamplingOptions.builder()
                    .temperature((float) temperature)
                    .topK(Objects.requireNonNullElse(options.getTopK(), settings.topK()))
                    .topP((float) (double) Objects.requireNonNullElse(options.getTopP(), settings.topP()))
                    .seed(
                            seed != null
                                    ? seed
                                    : temperature == 0
                                            ? 0
                                            : ThreadLocalRandom.current().nextLong())
                    .build();
        }

        /** Returns a part of the answer. */
        ChatResponse chunk(String text) {
            return new ChatResponse(
                    List.of(new Generation(new AssistantMessage(text))),
                    ChatResponseMetadata.builder().id(id).model(model()).build());
        }

        /** Returns the end of the answer, with a text. */
        ChatResponse response(String text) {
            AssistantMessage message = AssistantMessage.builder()
                    .content(text)
                    .toolCalls(toolCalls)
                    .build();
            ChatGenerationMetadata metadata =
                    ChatGenerationMetadata.builder().finishReason(finishReason).build();
            Usage usage = new DefaultUsage(
                    promptTokens, completionTokens, promptTokens + completionTokens, null, (long) sharedTokens, null);
            return new ChatResponse(
                    List.of(new Generation(message, metadata)),
                    ChatResponseMetadata.builder()
                            .id(id)
                            .model(model())
                            .usage(usage)
                            .build());
        }

        /** The text of the answer, on its way from tokens to the reader. */
        private final class Answer {
            private final ChatTokenizer.Decoder decoder = tokenizer.decoder();
            private final StopMatcher stops;
            private final ToolCallParser parser;
            private final Consumer<String> pieces;

            Answer(List<String> stops, ChatPrompt chat, Consumer<String> pieces) {
                this.stops = new StopMatcher(stops);
                this.parser = new ToolCallParser(chat.toolNames(), chat.toolCalls());
                this.pieces = pieces;
            }

            /** Reads tokens up to a stop sequence, and returns whether there is one. */
            boolean read(TokenSource.Tokens running) throws InterruptedException {
                for (OptionalInt token = running.next(); token.isPresent(); token = running.next()) {
                    completionTokens++;
                    if (!stopTokens.contains(token.getAsInt())) {
                        pass(parser.add(stops.add(decoder.add(token.getAsInt()))));
                        if (stops.isStopped()) {
                            return true;
                        }
                    }
                }
                return false;
            }

            void finish(boolean complete) {
                String rest = stops.isStopped() ? "" : stops.add(decoder.finish()) + stops.finish();
                pass(parser.add(rest) + parser.finish(complete));
                toolCalls = parser.calls();
            }

            private void pass(String text) {
                if (!text.isEmpty()) {
                    pieces.accept(text);
                }
            }
        }
    }
}

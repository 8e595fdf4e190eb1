package io.github.iree4j.spring.ai;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.generation.sampling.SamplingOptions;
import io.github.iree4j.generation.sampling.TokenConstraint;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.observation.conventions.AiOperationType;

/**
 * Turns prompts into answers: writes prompts by the chat template, tokenizes, generates, and reads tokens as text, calls
 * of tools and usage. The part of {@link IreeChatModel} that other interfaces share. Thread-safe.
 */
@NotForApplications
public final class ChatEngine implements AutoCloseable {
    private static final int MOST_STOP_SEQUENCES = 64;

    /** Number of characters that a tokenizer reads in no time. */
    private static final int LONG_TEXT = 20_000;

    private final ChatSettings settings;
    private final ChatTemplate template;
    private final ChatTokenizer tokenizer;
    private final Set<Integer> stopTokens;
    private final TokenSource source;
    private final KnownConstraints constraints;
    private final SlowTokens slowTokens = new SlowTokens(InstantSource.system());

    /** Creates an engine that owns the source. */
    ChatEngine(TokenSource source, ChatSettings settings) {
        this.source = source;
        this.settings = settings;
        this.template = ChatTemplate.load(settings.tokenizer(), settings.template());
        this.tokenizer = ChatTokenizer.load(settings.tokenizer());
        this.constraints = new KnownConstraints(tokenizer::vocabulary);
        try {
            this.stopTokens =
                    tokenizer.tokens(settings.stopTokens().isEmpty() ? template.stopTokens() : settings.stopTokens());
        } catch (RuntimeException e) {
            tokenizer.close();
            throw e;
        }
        source.listen(slowTokens);
    }

    /**
     * Returns the engine of a chat model.
     *
     * @param model closes the engine
     * @return the engine
     */
    public static ChatEngine of(IreeChatModel model) {
        return model.engine();
    }

    /**
     * Returns the generator in use.
     *
     * @return empty before the first request
     */
    public Optional<Generator> generator() {
        return source.generator();
    }

    /**
     * Returns the tokens that came latest, among the first and the slowest token of each of the requests that ended last.
     *
     * @return up to 16 tokens, the slowest first
     */
    public List<SlowToken> slowTokens() {
        return slowTokens.slowest();
    }

    TokenSource source() {
        return source;
    }

    /** Prepares a loaded program, as {@link IreeChatModel#check}. */
    void check() {
        source.check(tokenizer.size());
    }

    /**
     * Returns the name of the model.
     *
     * @return the name of the program
     */
    public String model() {
        return settings.module();
    }

    /**
     * Returns the defaults of requests.
     *
     * @return the settings of the model
     */
    public ChatSettings settings() {
        return settings;
    }

    /**
     * Returns the most tokens of a prompt and an answer together.
     *
     * @return number of tokens
     * @throws IreeException when the program cannot be used
     */
    public int maximumTokens() {
        return source.maximumTokens();
    }

    /**
     * Returns the tokens of a conversation.
     *
     * @param prompt the messages and tools
     * @return the tokens of the text that the chat template writes
     * @throws IreeException INVALID_ARGUMENT when the template rejects the messages; DEADLINE_EXCEEDED and
     *     RESOURCE_EXHAUSTED beyond the limits of templates
     */
    public int[] encode(ChatPrompt prompt) {
        return encode(template.render(prompt), tokenizer::encode);
    }

    /**
     * Returns the tokens of a conversation, and the begin of a call of a tool, so that the answer is a call.
     *
     * @param prompt the messages and tools
     * @return the tokens
     * @throws IreeException as {@link #encode(ChatPrompt)}
     */
    public int[] encodeForCall(ChatPrompt prompt) {
        return encode(template.render(prompt) + ToolCallParser.BEGIN + "\n", tokenizer::encode);
    }

    /**
     * Returns the tokens of a text to continue.
     *
     * @param text the text, without special tokens at the start
     * @return the tokens, with special tokens as the tokenizer adds them
     */
    public int[] encode(String text) {
        return encode(text, tokenizer::encodeWithSpecial);
    }

    /**
     * Returns the tokens of a text, or more tokens than a sequence may have: of a text that is too long whatever its
     * tokens, only the begin is tokenized, since a million characters take the tokenizer seconds.
     */
    private int[] encode(String text, Function<String, int[]> encoder) {
        if (text.length() > LONG_TEXT) {
            long enough = (long) (maximumTokens() + 1) * tokenizer.longest();
            int[] tokens = encoder.apply(text.substring(0, (int) Math.min(text.length(), enough)));
            if (text.length() <= enough
                    || tokens.length > maximumTokens()) { // else the tokenizer leaves out characters
                return tokens;
            }
        }
        return encoder.apply(text);
    }

    /**
     * Returns a builder of the choice of tokens, for a request.
     *
     * @return a builder with the settings of the model, and another seed for each request unless the settings have one
     */
    public SamplingOptions.Builder sampling() {
        Long seed = settings.seed();
        return SamplingOptions.builder()
                .temperature((float) settings.temperature())
                .topK(settings.topK())
                .topP((float) settings.topP())
                .seed(seed != null ? seed : ThreadLocalRandom.current().nextLong());
    }

    /**
     * Returns a constraint by which an answer is an instance of a JSON schema.
     *
     * @param schema the schema; empty for any JSON object
     * @return the constraint
     * @throws IreeException INVALID_ARGUMENT for a schema that cannot be kept, naming the place
     */
    public TokenConstraint constraint(String schema) {
        return constraints.of(schema);
    }

    /**
     * Returns a constraint by which an answer is a call of a tool, behind {@link #encodeForCall}.
     *
     * @param tools the tools, as templates have them
     * @return the constraint
     * @throws IreeException INVALID_ARGUMENT for parameters that cannot be kept, naming the place
     */
    public TokenConstraint callConstraint(List<Map<String, Object>> tools) {
        return constraint(CallSchema.of(tools));
    }

    /**
     * A prompt, and how to answer the prompt.
     *
     * @param prompt the tokens of the prompt
     * @param tools names of the tools that the answer may call; empty when calls are text
     * @param toolCalls the number of the next call, for its id
     * @param isCall whether the answer is a call, whose begin ends the prompt
     * @param stops texts that end the answer
     * @param maxTokens maximum number of tokens; null for the default, or as many as fit
     * @param sampling the choice of tokens
     * @param deadline the end of the request's time, from {@link #begin}; null for none
     * @param tenant name of the tenant, who takes turns with others; empty for none
     * @param operation the operation in meters
     */
    public record Request(
            int[] prompt,
            Set<String> tools,
            int toolCalls,
            boolean isCall,
            List<String> stops,
            @Nullable Integer maxTokens,
            SamplingOptions sampling,
            @Nullable Deadline deadline,
            String tenant,
            AiOperationType operation) {}

    /**
     * Begins the time of a request, and waits until the program is loaded, but not longer than the timeout.
     *
     * @param timeout maximum duration of the request; null for none
     * @return the deadline; null for none
     * @throws IreeException INVALID_ARGUMENT for a timeout that is not positive; DEADLINE_EXCEEDED when the program is not
     *     loaded in time: loading continues; as the program cannot be used
     */
    public @Nullable Deadline begin(@Nullable Duration timeout) {
        check(
                timeout == null || timeout.isPositive(),
                "the timeout is %s, not positive".formatted(timeout == null ? "" : DurationText.of(timeout)));
        Deadline deadline = timeout == null ? null : Deadline.after(timeout);
        source.load(deadline);
        return deadline;
    }

    /**
     * Submits a request, and returns at once.
     *
     * @param request the request
     * @return the answer, to be read or cancelled
     * @throws IreeException INVALID_ARGUMENT for lengths that the model does not have and bad stop sequences;
     *     RESOURCE_EXHAUSTED when too many requests wait; UNAVAILABLE when the model is closed
     */
    public ChatAnswer submit(Request request) {
        List<String> stops = request.stops();
        check(
                stops.size() <= MOST_STOP_SEQUENCES,
                "%d stop sequences are requested, at most %d are possible"
                        .formatted(stops.size(), MOST_STOP_SEQUENCES));
        check(stops.stream().noneMatch(String::isEmpty), "a stop sequence is empty; give a character or more");
        if (source.generator().map(Generator::vocabulary).orElse(0) == 0) { // otherwise the generator checks
            int highest = Arrays.stream(request.prompt()).max().orElse(0);
            check(
                    highest < tokenizer.size(),
                    "the prompt has token %d; the tokenizer has tokens 0 to %d"
                            .formatted(highest, tokenizer.size() - 1));
        }
        int length = request.prompt().length;
        Integer given = request.maxTokens();
        int most = given != null ? given : Math.clamp(source.maximumTokens() - length, 1, settings.maxTokens());
        TokenSource.Tokens tokens = source.submit(
                GenerationRequest.of(most, request.prompt())
                        .stopAt(stopTokens)
                        .sampling(request.sampling())
                        .deadline(request.deadline())
                        .tenant(request.tenant()),
                request.operation());
        return new ChatAnswer(model(), request, tokens, stopTokens, tokenizer);
    }

    static void check(boolean valid, String otherwise) {
        if (!valid) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, otherwise);
        }
    }

    /** Ends all requests with CANCELLED, and frees the cache. Idempotent. */
    @Override
    public void close() {
        source.close();
        tokenizer.close();
    }
}

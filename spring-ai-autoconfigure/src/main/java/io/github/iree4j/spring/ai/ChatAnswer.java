package io.github.iree4j.spring.ai;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.generation.GenerationResult.FinishReason;
import io.github.iree4j.generation.sampling.LogProbabilities;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.observation.conventions.AiOperationType;

/**
 * The answer to a submitted request, on the way from tokens to a reader. Read once, by one thread; {@link #cancel} is
 * thread-safe. Tokens wait for a slow reader, at most the maximum of the request.
 */
@NotForApplications
public final class ChatAnswer {
    private static final Duration WAIT = Duration.ofMillis(100);

    private final String model;
    private final int promptTokens;
    private final TokenSource.Tokens running;
    private final Set<Integer> stopTokens;
    private final ChatTokenizer tokenizer;
    private final ChatTokenizer.Decoder decoder;
    private final boolean scored;
    private final List<Pending> pending = new ArrayList<>(); // scored tokens whose text is held back
    private int decoded; // characters
    private int accepted; // characters before a stop sequence
    private final StopMatcher stops;
    private final ToolCallParser parser;
    private int completionTokens;
    private int sharedTokens;
    private String finishReason = "";

    ChatAnswer(
            String model,
            ChatEngine.Request request,
            TokenSource.Tokens running,
            Set<Integer> stopTokens,
            ChatTokenizer tokenizer) {
        this.model = model;
        this.promptTokens = request.prompt().length;
        this.running = running;
        this.stopTokens = stopTokens;
        this.tokenizer = tokenizer;
        this.decoder = tokenizer.decoder(request.operation() == AiOperationType.TEXT_COMPLETION);
        this.scored = request.sampling().logProbabilities().isPresent();
        this.stops = new StopMatcher(request.stops());
        this.parser = new ToolCallParser(request.tools(), request.toolCalls(), request.isCall());
    }

    /** Reads an answer. An exception of a reader cancels the request. */
    @FunctionalInterface
    public interface Reader {
        /**
         * Takes a part of the text.
         *
         * @param piece whole characters, not empty
         */
        void text(String piece);

        /** Called at each token, also while the text is held back. */
        default void token() {}

        /** Called about ten times per second while no token comes, also before the first. */
        default void waiting() {}

        /**
         * Takes tokens with their log probabilities, if requested, before the end of their text. Stop tokens and the
         * tokens of stop sequences are left out.
         *
         * @param tokens the tokens in order
         */
        default void scored(List<ScoredToken> tokens) {}
    }

    /**
     * A token with a log probability.
     *
     * @param token number of the token
     * @param offset number of code points of the answer before the token; a token that begins in a character has the
     *     offset of this character
     * @param bytes the text, possibly a part of a character; none for a special token; not to be modified
     * @param logProbability 0 or less; minus infinity for a token that the model excludes
     * @param alternatives the most probable tokens in this place, as requested, without alternatives themselves
     */
    public record ScoredToken(
            int token, int offset, byte[] bytes, float logProbability, List<ScoredToken> alternatives) {}

    private record Pending(int start, ScoredToken token) {}

    /**
     * Waits for the tokens, and passes the text on piece by piece.
     *
     * @param reader takes the text
     * @throws IreeException the failure of the request, after the text before the failure; CANCELLED when the thread is
     *     interrupted
     */
    public void read(Reader reader) {
        try {
            boolean complete = readTokens(reader) || running.reason() == FinishReason.STOP;
            sharedTokens = running.sharedTokens();
            String rest = stops.isStopped() ? "" : stops.add(decoder.finish()) + stops.finish();
            if (!stops.isStopped()) {
                release(Integer.MAX_VALUE, reader);
            }
            pass(parser.add(rest) + parser.finish(complete), reader);
            finishReason = !parser.calls().isEmpty() ? "tool_calls" : complete ? "stop" : "length";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw cancelled(e);
        } finally {
            running.cancel(); // no effect after the last token
        }
    }

    /** Reads tokens up to a stop sequence, and returns whether there is one. */
    private boolean readTokens(Reader reader) throws InterruptedException {
        for (OptionalInt token = next(reader); token.isPresent(); token = next(reader)) {
            completionTokens++;
            reader.token();
            if (!stopTokens.contains(token.getAsInt())) {
                pass(parser.add(accept(token.getAsInt(), reader)), reader);
                if (stops.isStopped()) {
                    return true;
                }
            }
        }
        return false;
    }

    private OptionalInt next(Reader reader) throws InterruptedException {
        while (!running.await(WAIT)) {
            reader.waiting();
        }
        return running.next();
    }

    /** Returns the text that a token completes, before a stop sequence. */
    private String accept(int token, Reader reader) {
        String text = decoder.add(token);
        if (scored) {
            pending.add(new Pending(decoded, scored(token, running.logProbabilities(completionTokens - 1))));
        }
        decoded += text.length();
        String before = stops.add(text);
        accepted += before.length();
        if (scored) {
            release(accepted, reader);
        }
        return before;
    }

    private ScoredToken scored(int token, LogProbabilities values) {
        List<ScoredToken> alternatives = new ArrayList<>(values.size());
        for (int i = 0; i < values.size(); i++) {
            alternatives.add(scored(values.token(i), values.value(i), List.of()));
        }
        return scored(token, values.chosen(), alternatives);
    }

    private ScoredToken scored(int token, float logProbability, List<ScoredToken> alternatives) {
        return new ScoredToken(token, decoder.start(), tokenizer.bytes(token), logProbability, alternatives);
    }

    /** Passes on the tokens that begin before a number of characters. */
    private void release(int end, Reader reader) {
        int count = 0;
        while (count < pending.size() && pending.get(count).start() < end) {
            count++;
        }
        if (count > 0) {
            List<Pending> ready = pending.subList(0, count);
            reader.scored(ready.stream().map(Pending::token).toList());
            ready.clear();
        }
    }

    private static void pass(String text, Reader reader) {
        if (!text.isEmpty()) {
            reader.text(text);
        }
    }

    /** Ends the request, if the request has not ended. */
    public void cancel() {
        running.cancel();
    }

    IreeException cancelled(@Nullable Throwable cause) {
        return IreeException.of(
                StatusCode.CANCELLED,
                "a request of '%s' was %s".formatted(model, cause == null ? "cancelled" : "interrupted"),
                cause);
    }

    /**
     * Returns the size of the prompt.
     *
     * @return number of tokens
     */
    public int promptTokens() {
        return promptTokens;
    }

    /**
     * Returns the size of the answer so far.
     *
     * @return number of tokens, a stop token included
     */
    public int completionTokens() {
        return completionTokens;
    }

    /**
     * Returns the part of the prompt known from other requests; after reading.
     *
     * @return number of tokens
     */
    public int sharedTokens() {
        return sharedTokens;
    }

    /**
     * Returns why the answer ended; after reading.
     *
     * @return {@code stop}, {@code length} or {@code tool_calls}
     */
    public String finishReason() {
        return finishReason;
    }

    /**
     * Returns the calls of tools; after reading.
     *
     * @return the calls in order
     */
    public List<ToolCall> toolCalls() {
        return parser.calls();
    }
}

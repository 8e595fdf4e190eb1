package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.ai.ChatAnswer;
import io.github.iree4j.spring.ai.ChatAnswer.ScoredToken;
import io.github.iree4j.spring.ai.ChatEngine;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The running answers to a request. Read by one thread; {@link #cancel} is thread-safe. */
final class Completion {

    private static final Logger log = LoggerFactory.getLogger(Completion.class);

    private static final byte[] DATA = "data: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] END = "\n\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] DONE = "data: [DONE]\n\n".getBytes(StandardCharsets.US_ASCII);

    /** Memory of a token with its log probability in a tree of JSON. */
    private static final long SCORE = 600;

    private final GenerationCall call;
    private final String model;
    private final String id;
    private final long created; // seconds since 1970
    private final List<ChatAnswer> answers;

    private Completion(GenerationCall call, String model, List<ChatAnswer> answers) {
        this.call = call;
        this.model = model;
        this.id = call.form().idPrefix + UUID.randomUUID().toString().replace("-", "");
        this.created = Instant.now().getEpochSecond();
        this.answers = answers;
    }

    /**
     * Submits the requests of a call.
     *
     * @throws IreeException when a request is rejected; then none runs
     */
    static Completion submit(GenerationCall call, ChatEngine engine) {
        List<ChatAnswer> answers = new ArrayList<>();
        try {
            for (ChatEngine.Request request : call.requests()) {
                answers.add(engine.submit(request));
            }
            return new Completion(call, engine.model(), answers);
        } catch (RuntimeException | Error e) {
            answers.forEach(ChatAnswer::cancel);
            throw e;
        }
    }

    /** Ends the requests that have not ended. */
    void cancel() {
        answers.forEach(ChatAnswer::cancel);
    }

    /**
     * Waits for all answers.
     *
     * @param gone asked at each token, and about ten times per second between tokens, whether the client has gone
     * @param memory takes the bytes of the answers' scores, before they are allocated
     * @return the answers
     * @throws IreeException the failure of a request; CANCELLED when the client has gone
     */
    ObjectNode whole(BooleanSupplier gone, LongConsumer memory) {
        try {
            ObjectNode root = root(call.form().object);
            List<ObjectNode> choices = new ArrayList<>();
            for (ChatAnswer answer : answers) {
                StringBuilder text = new StringBuilder();
                Watching reader = new Watching(gone, memory) {
                    @Override
                    public void text(String piece) {
                        text.append(piece);
                    }
                };
                answer.read(reader);
                ObjectNode choice = choice(choices.size());
                call.form().whole(choice, text.toString(), answer.toolCalls());
                reader.writeScores(choice);
                choices.add(choice.put("finish_reason", answer.finishReason()));
            }
            root.putArray("choices").addAll(choices);
            usage(root);
            return root;
        } finally {
            cancel();
        }
    }

    /**
     * Writes the answers as server-sent events, each when its text is known. A failure of a request is an event, too.
     *
     * @param out flushed behind each event, not closed
     * @param gone asked at each token, and about ten times per second between tokens, whether the client has gone
     * @throws IOException when the client is gone or too slow; then the requests end
     */
    void stream(OutputStream out, BooleanSupplier gone) throws IOException {
        try {
            for (int i = 0; i < answers.size(); i++) {
                stream(i, out, gone);
            }
            if (call.parameters().usage()) {
                ObjectNode root = root(call.form().chunk);
                root.putArray("choices");
                usage(root);
                event(out, root);
            }
            out.write(DONE);
            out.flush();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (RuntimeException e) { // the status of the response is sent
            if (gone.getAsBoolean()) {
                throw new IOException("the client has gone", e);
            }
            OpenAiFailure failure = OpenAiFailure.of(e);
            log.debug("a stream ends with {}", failure);
            event(out, failure.json());
        } finally {
            cancel();
        }
    }

    private void stream(int index, OutputStream out, BooleanSupplier gone) throws IOException {
        CompletionForm form = call.form();
        ChatAnswer answer = answers.get(index);
        ObjectNode begin = choice(index);
        if (form.first(begin)) {
            chunk(out, begin.putNull("logprobs").putNull("finish_reason"));
        }
        Watching reader = new Watching(gone, _ -> {}) {
            @Override
            public void text(String piece) {
                ObjectNode choice = choice(index);
                form.piece(choice, piece);
                writeScores(choice);
                try {
                    chunk(out, choice.putNull("finish_reason"));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
        answer.read(reader);
        if (!answer.toolCalls().isEmpty()) {
            ObjectNode choice = choice(index);
            form.calls(choice, answer.toolCalls());
            chunk(out, choice.putNull("logprobs").putNull("finish_reason"));
        }
        ObjectNode last = choice(index);
        form.last(last);
        reader.writeScores(last);
        chunk(out, last.put("finish_reason", answer.finishReason()));
    }

    /** Reads an answer, and ends the request soon after the client has gone. */
    private abstract class Watching implements ChatAnswer.Reader {
        private final BooleanSupplier gone;
        private final LongConsumer memory;
        private final List<ScoredToken> unwritten = new ArrayList<>();

        Watching(BooleanSupplier gone, LongConsumer memory) {
            this.gone = gone;
            this.memory = memory;
        }

        @Override
        public void token() {
            requireClient();
        }

        @Override
        public void waiting() {
            requireClient();
        }

        private void requireClient() {
            if (gone.getAsBoolean()) {
                throw IreeException.of(StatusCode.CANCELLED, "the client has gone");
            }
        }

        @Override
        public void scored(List<ScoredToken> tokens) {
            long scores = 0;
            for (ScoredToken each : tokens) {
                scores += 1 + each.alternatives().size();
            }
            memory.accept(scores * SCORE);
            unwritten.addAll(tokens);
        }

        /** Writes the scores since the last time; null for none. */
        void writeScores(ObjectNode choice) {
            if (unwritten.isEmpty()) {
                choice.putNull("logprobs");
                return;
            }
            call.form().scores(choice, unwritten);
            unwritten.clear();
        }
    }

    private ObjectNode root(String object) {
        return JsonMapper.shared()
                .createObjectNode()
                .put("id", id)
                .put("object", object)
                .put("created", created)
                .put("model", model);
    }

    private static ObjectNode choice(int index) {
        return JsonMapper.shared().createObjectNode().put("index", index);
    }

    private void chunk(OutputStream out, ObjectNode choice) throws IOException {
        ObjectNode root = root(call.form().chunk);
        root.putArray("choices").add(choice);
        if (call.parameters().usage()) {
            root.putNull("usage");
        }
        event(out, root);
    }

    private static void event(OutputStream out, ObjectNode json) throws IOException {
        out.write(DATA);
        out.write(JsonMapper.shared().writeValueAsBytes(json));
        out.write(END);
        out.flush();
    }

    /** Writes the usage; a prompt with several answers counts once. */
    private void usage(ObjectNode root) {
        long prompt = 0;
        long cached = 0;
        long completion = 0;
        for (int i = 0; i < answers.size(); i++) {
            ChatAnswer answer = answers.get(i);
            completion += answer.completionTokens();
            if (i % call.parameters().choices() == 0) {
                prompt += answer.promptTokens();
                cached += answer.sharedTokens();
            }
        }
        ObjectNode usage = root.putObject("usage")
                .put("prompt_tokens", prompt)
                .put("completion_tokens", completion)
                .put("total_tokens", prompt + completion);
        usage.putObject("prompt_tokens_details").put("cached_tokens", cached);
    }
}

package io.github.iree4j.spring.ai;

import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.GenerationResult.FinishReason;
import io.github.iree4j.generation.sampling.LogProbabilities;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.ai.observation.conventions.AiOperationType;

/** Answers prompts with the tokens of scripts in turn, the last script again and again, within the limits of the request. */
final class ScriptedTokens implements TokenSource {
    final List<GenerationRequest> requests = new ArrayList<>();
    final List<AiOperationType> operations = new ArrayList<>();
    final CountDownLatch cancelled = new CountDownLatch(1);
    int sharedTokens;
    int waitAt = -1;
    IreeException failure;
    Semaphore steps; // a permit for each token; null for no limit
    private final List<List<Integer>> scripts;

    private ScriptedTokens(List<List<Integer>> scripts) {
        this.scripts = scripts;
    }

    /** Answers the first prompt with the first text, and so on. */
    static ScriptedTokens text(String... texts) {
        return new ScriptedTokens(Stream.of(texts)
                .map(text -> {
                    List<Integer> script = new ArrayList<>(ByteTokenizer.tokens(text));
                    script.add(ByteTokenizer.END);
                    return script;
                })
                .collect(Collectors.toList()));
    }

    /** Answers each prompt with tokens. */
    static ScriptedTokens of(Integer... tokens) {
        return new ScriptedTokens(List.of(List.of(tokens)));
    }

    /** Returns the prompt of a request as a text; a byte is a character. */
    String prompt(int request) {
        StringBuilder text = new StringBuilder();
        for (int token : requests.get(request).prompt()) {
            text.append(
                    token >= ByteTokenizer.FIRST_SPECIAL
                            ? ByteTokenizer.SPECIAL.get(token - ByteTokenizer.FIRST_SPECIAL)
                            : String.valueOf((char) token));
        }
        return text.toString();
    }

    @Override
    public void check(int size) {}

    @Override
    public int maximumTokens() {
        return 4096;
    }

    @Override
    public void close() {}

    @Override
    public synchronized Tokens submit(GenerationRequest request, AiOperationType operation) {
        requests.add(request);
        operations.add(operation);
        List<Integer> script = scripts.get(Math.min(requests.size(), scripts.size()) - 1);
        return new Tokens() {
            private int next;
            private FinishReason reason;
            private boolean permitted; // a permit is taken for the next token
            private volatile boolean over;

            @Override
            public boolean await(Duration limit) throws InterruptedException {
                if (steps != null && !permitted) {
                    permitted = steps.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS);
                    return permitted;
                }
                return next != waitAt || cancelled.await(limit.toNanos(), TimeUnit.NANOSECONDS);
            }

            @Override
            public OptionalInt next() throws InterruptedException {
                if (steps != null) {
                    if (!permitted) {
                        steps.acquire();
                    }
                    permitted = false;
                    if (over) {
                        throw IreeException.of(StatusCode.CANCELLED, "the script was cancelled");
                    }
                }
                if (next == waitAt) {
                    cancelled.await();
                    throw IreeException.of(StatusCode.CANCELLED, "the script was cancelled");
                }
                if (failure != null && next == script.size() - 1) {
                    throw failure;
                }
                if (reason != null) {
                    return OptionalInt.empty();
                }
                int token = script.get(next++);
                if (request.stopTokens().contains(token)) {
                    reason = FinishReason.STOP;
                } else if (next == script.size() || next == request.maximumTokens()) {
                    reason = FinishReason.LENGTH;
                }
                return OptionalInt.of(token);
            }

            @Override
            public FinishReason reason() {
                return reason;
            }

            @Override
            public int sharedTokens() {
                return sharedTokens;
            }

            @Override
            public LogProbabilities logProbabilities(int index) {
                throw new UnsupportedOperationException();
            }

            @Override
            public void cancel() {
                over = true;
                cancelled.countDown();
                if (steps != null) {
                    steps.release();
                }
            }
        };
    }
}

package io.github.iree4j.spring.ai;

import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.springframework.ai.observation.conventions.AiOperationType;

/** A chat model with the answers of a script, for tests of other packages. */
public final class ScriptedChat implements TokenSource {
    private final Semaphore submitted = new Semaphore(0);
    private final Semaphore left = new Semaphore(0);
    private volatile ScriptedTokens script = ScriptedTokens.text("");
    private volatile CountDownLatch loaded = new CountDownLatch(0);

    /** Creates the model, with a tokenizer of bytes in a folder. */
    public IreeChatModel model(Path folder) {
        ChatSettings settings =
                ChatSettings.builder("chat", ByteTokenizer.write(folder)).build();
        return new IreeChatModel(this, settings, ObservationRegistry.NOOP, null);
    }

    /** Waits until a number of requests have come since the script began. */
    public void awaitRequests(int count) throws InterruptedException {
        if (!submitted.tryAcquire(count, 100, TimeUnit.SECONDS)) {
            throw new IllegalStateException(
                    "%d requests of %d have come".formatted(requests().size(), count));
        }
    }

    /** Begins to load the model: requests wait until the latch is open, or until they are interrupted. */
    public CountDownLatch load() {
        loaded = new CountDownLatch(1);
        return loaded;
    }

    /** Waits until a request leaves the load of the model. */
    public void awaitLeaving() throws InterruptedException {
        if (!left.tryAcquire(100, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no request has left");
        }
    }

    private void awaitLoad() {
        if (loaded.getCount() > 0) {
            submitted.release();
        }
        try {
            loaded.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            left.release();
            throw IreeException.of(StatusCode.CANCELLED, "interrupted while the model loads", e);
        }
    }

    /** Answers the next requests with a text. */
    public void answer(String text) {
        submitted.drainPermits();
        script = ScriptedTokens.text(text);
    }

    /** Makes a number of tokens of the prompt known. */
    public void share(int tokens) {
        script.sharedTokens = tokens;
    }

    /** Fails in place of the last token. */
    public void failAtTheEnd(IreeException failure) {
        script.failure = failure;
    }

    /** Waits for a permit before each token. */
    public Semaphore steps() {
        script.steps = new Semaphore(0);
        return script.steps;
    }

    /** Zero when a request was cancelled. */
    public CountDownLatch cancelled() {
        return script.cancelled;
    }

    /** Returns the requests of the script. */
    public List<GenerationRequest> requests() {
        return script.requests;
    }

    /** Returns the operation of each request. */
    public List<AiOperationType> operations() {
        return script.operations;
    }

    /** Returns the prompt of a request as a text. */
    public String prompt(int request) {
        return script.prompt(request);
    }

    @Override
    public void check(int size) {}

    @Override
    public int maximumTokens() {
        awaitLoad();
        return script.maximumTokens();
    }

    @Override
    public Tokens submit(GenerationRequest request, AiOperationType operation) {
        awaitLoad();
        Tokens tokens = script.submit(request, operation);
        submitted.release();
        return tokens;
    }

    @Override
    public void close() {}
}

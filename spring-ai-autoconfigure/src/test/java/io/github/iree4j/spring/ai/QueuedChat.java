package io.github.iree4j.spring.ai;

import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.spring.Programs;
import io.micrometer.observation.ObservationRegistry;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.springframework.ai.observation.conventions.AiOperationType;

/** A chat model on {@link SmallDecoder}, whose requests wait in the queue of the generator while held. */
public final class QueuedChat implements TokenSource {
    private static final String HOLDER = "holder";

    private final ChatSettings settings;
    private final GeneratorSource source;
    private final Semaphore submitted = new Semaphore(0);
    private final Semaphore held = new Semaphore(0);
    private final BlockingQueue<Optional<Throwable>> ends = new LinkedBlockingQueue<>();
    private volatile CountDownLatch release = new CountDownLatch(0);

    /** Creates the source, with the files of {@link SmallDecoder#properties} in a folder. */
    public QueuedChat(Programs programs, Path folder) {
        settings = SmallDecoder.settings(folder).build();
        source = new GeneratorSource(programs, settings);
        source.listen((generation, _, _, failure) -> {
            if (generation.request().tenant().equals(HOLDER)) {
                held.release();
                await(release);
            } else {
                ends.add(Optional.ofNullable(failure));
            }
        });
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Creates the model, which owns this source. */
    public IreeChatModel model() {
        return new IreeChatModel(this, settings, ObservationRegistry.NOOP, null);
    }

    /** Holds the thread of the generator, by the end of a request. */
    public void hold() throws InterruptedException {
        release = new CountDownLatch(1);
        source.submit(GenerationRequest.of(50, 1).tenant(HOLDER), AiOperationType.CHAT);
        held.acquire();
    }

    /** Lets the generator go on. */
    public void release() {
        release.countDown();
    }

    /** Waits until a request is in the queue of the generator. */
    public void awaitRequest() throws InterruptedException {
        submitted.acquire();
    }

    /** Waits until a request has ended, and returns the failure; empty for an answer. */
    public Optional<Throwable> awaitEnd() throws InterruptedException {
        Optional<Throwable> end = ends.poll(100, TimeUnit.SECONDS);
        if (end == null) {
            throw new IllegalStateException("no request has ended");
        }
        return end;
    }

    @Override
    public void check(int size) {
        source.check(size);
    }

    @Override
    public int maximumTokens() {
        return source.maximumTokens();
    }

    @Override
    public Tokens submit(GenerationRequest request, AiOperationType operation) {
        Tokens tokens = source.submit(request, operation);
        submitted.release();
        return tokens;
    }

    @Override
    public void close() {
        release();
        source.close();
    }
}

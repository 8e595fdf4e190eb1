package io.github.iree4j.spring;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.springframework.core.io.AbstractResource;
import org.springframework.core.io.ProtocolResolver;

/** A file on a dead mount: a read takes no interrupt, and returns on the test's command. */
public final class HungFile extends AbstractResource {

    /** The location led here by {@link #resolver}. */
    public static final String LOCATION = "hung:file";

    private final Path content;
    private final CompletableFuture<Thread> reader = new CompletableFuture<>();
    private final CountDownLatch answer = new CountDownLatch(1);

    /** Creates a file with this content, once read. */
    public HungFile(Path content) {
        this.content = content;
    }

    /** Leads to this file. */
    public ProtocolResolver resolver() {
        return (location, _) -> location.equals(LOCATION) ? this : null;
    }

    /** Waits until a thread reads this file, and returns the thread. */
    public Thread awaitReader() {
        return reader.join();
    }

    /** Lets the read return, and waits for the end of its thread. */
    public void answer() throws InterruptedException {
        answer.countDown();
        reader.join().join();
    }

    @Override
    public boolean exists() {
        return true;
    }

    @Override
    public InputStream getInputStream() throws IOException {
        reader.complete(Thread.currentThread());
        boolean answered = false;
        while (!answered) {
            try {
                answer.await();
                answered = true;
            } catch (InterruptedException e) {
                // like a read uninterrupted by the system
            }
        }
        return new ByteArrayInputStream(Files.readAllBytes(content));
    }

    @Override
    public String getDescription() {
        return LOCATION;
    }
}

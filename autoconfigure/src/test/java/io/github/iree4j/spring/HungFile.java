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

/** A file on a mount that does not answer: a read of it takes no interrupt, and returns when the test says so. */
public final class HungFile extends AbstractResource {

    /** The location that {@link #resolver} leads here. */
    public static final String LOCATION = "hung:file";

    private final Path content;
    private final CompletableFuture<Thread> reader = new CompletableFuture<>();
    private final CountDownLatch answer = new CountDownLatch(1);

    /** Creates a file that has this content, once it is read. */
    public HungFile(Path content) {
        this.content = content;
    }

    /** Leads to this file. */
    public ProtocolResolver resolver() {
        return (location, _) -> location.equals(LOCATION) ? this : null;
    }

    /** Waits until a thread reads this, and returns it. */
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
                // as a read that the system does not interrupt
            }
        }
        return new ByteArrayInputStream(Files.readAllBytes(content));
    }

    @Override
    public String getDescription() {
        return LOCATION;
    }
}

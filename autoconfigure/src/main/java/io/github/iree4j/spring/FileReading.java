package io.github.iree4j.spring;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files of a load on a separate thread, since a read may never return and ignore interrupts, such as a read
 * from a mount whose server has gone. The thread of the load waits. When interrupted, the waiting thread abandons the
 * reader: a daemon thread, which closes all opened files if reading ever continues, and hands nothing over.
 *
 * <p>The reader thread only reads files. Beans needed by a program are created, and progress is reported, by the thread
 * of the load, which may hold locks of the application context.
 *
 * @param <T> the open files
 */
final class FileReading<T extends AutoCloseable> {

    /** Opens files. */
    @FunctionalInterface
    interface Reader<T> {
        T read() throws IOException;
    }

    private final String program;
    private final LinkedBlockingQueue<Runnable> reports = new LinkedBlockingQueue<>();
    private final CompletableFuture<T> outcome = new CompletableFuture<>(); // completed by one of the two threads
    private volatile String location = "";

    /** Creates a reading for the files of a program. */
    FileReading(String program) {
        this.program = program;
    }

    /** Records that the reader begins to read a file. */
    void reads(String where) {
        location = where;
    }

    /** Passes a report from the reader to the thread of the load. */
    void report(Runnable report) {
        reports.add(report);
    }

    /**
     * Starts reading, and waits for the files.
     *
     * @return the files; the caller closes the files
     * @throws IreeException CANCELLED when this thread is interrupted; the thread stays interrupted
     */
    T await(Reader<T> reader) throws IOException {
        Thread thread = CallThreads.forNativeWaits("iree4j-files " + program, () -> read(reader));
        thread.start();
        boolean taken = false;
        try {
            while (!outcome.isDone()) {
                reports.take().run();
            }
            for (Runnable report = reports.poll(); report != null; report = reports.poll()) {
                report.run();
            }
            T files = outcome.get();
            taken = true;
            return files;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IreeException.of(
                    StatusCode.CANCELLED,
                    "cancelled while '%s' was being read; if it is on a mount that does not answer, mend that"
                            .formatted(location),
                    e);
        } catch (ExecutionException e) {
            throw rethrown(e.getCause());
        } finally {
            if (!taken) {
                abandon(thread);
            }
        }
    }

    private void read(Reader<T> reader) {
        try {
            T files = reader.read();
            if (!outcome.complete(files)) {
                close(files);
            }
        } catch (Throwable e) {
            outcome.completeExceptionally(e);
        }
        reports.add(() -> {}); // wakes the thread of the load
    }

    private void abandon(Thread thread) {
        if (outcome.cancel(false)) {
            thread.interrupt();
        } else if (!outcome.isCompletedExceptionally()) {
            close(outcome.join());
        }
    }

    private static void close(AutoCloseable files) {
        try {
            files.close();
        } catch (Exception e) {
            throw new IllegalStateException("files are closed without a failure", e);
        }
    }

    private static RuntimeException rethrown(@Nullable Throwable cause) throws IOException {
        switch (cause) {
            case IOException e -> throw e;
            case Error e -> throw e;
            case RuntimeException e -> throw e;
            case null, default -> throw new IllegalStateException("nothing else is thrown", cause);
        }
    }
}

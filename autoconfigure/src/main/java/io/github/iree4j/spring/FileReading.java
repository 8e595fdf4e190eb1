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
 * Reads the files of one load on a thread of its own, since a read may never return and take no interrupt, such as one from a mount whose
 * server has gone. The thread of the load waits, and when it is interrupted it abandons the reader: a daemon, which closes what it has opened
 * if it ever continues, and hands nothing over.
 *
 * <p>Only files are read there. Beans that a program needs are created by the thread of the load, which may hold locks of the application
 * context, and so is progress reported.
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

    /** Creates one for the files of a program. */
    FileReading(String program) {
        this.program = program;
    }

    /** The reader begins to read a file. */
    void reads(String where) {
        location = where;
    }

    /** The reader has something to report, which the thread of the load does. */
    void report(Runnable report) {
        reports.add(report);
    }

    /**
     * Reads, and waits for it.
     *
     * @return the files; the caller closes them
     * @throws IreeException CANCELLED when this thread is interrupted, and then stays so
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
            throw new IreeException(
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

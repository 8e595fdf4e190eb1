package io.github.iree4j.async.io;

import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Makes file transfers. The proactor's owner calls all methods, except methods marked "any thread", after which the
 * caller wakes the owner.
 */
interface FileBackend {
    /** The most bytes of a single transfer; longer transfers are cut short, as the system does at its own limit. */
    int MAX_LENGTH = 1 << 30;

    /** An open file. */
    interface Handle extends AutoCloseable {
        long length();

        @Override
        void close();
    }

    /** Returns the backend's name, and the reason for choosing it. */
    String describe();

    /** Opens a file. Safe from any thread. */
    Handle open(Path path, boolean read, boolean write);

    /** Submits an operation, which ends exactly once, during {@link #poll} or {@link #stop}; throws when stopped. Safe from any thread. */
    void submit(FileOperation operation);

    /** Ends an operation early if possible; the operation carries the cause. Safe from any thread. */
    void cancel(FileOperation operation);

    /**
     * Returns a descriptor that becomes readable when an operation has ended; null when the backend wakes the owner.
     * The caller closes the descriptor.
     */
    @Nullable
    EventDescriptor readiness();

    /** Returns whether a transient condition without notice of its end prevented a start. */
    boolean retries();

    /** Completes ended operations and starts submitted operations. Returns the number of ended operations. */
    int poll(int limit);

    /** Returns the number of operations not ended, including operations submitted before the owner was woken. */
    int pending();

    /** Refuses new operations and ends all others early. */
    void stop(IreeException cause);

    /** Releases the backend; called when nothing is pending. */
    void close();
}

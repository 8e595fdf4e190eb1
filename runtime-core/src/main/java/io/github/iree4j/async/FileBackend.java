package io.github.iree4j.async;

import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Makes file transfers. The proactor's owner calls all methods, except those marked "any thread", after which the caller wakes the owner.
 */
interface FileBackend {
    /** The most bytes of one transfer; longer ones are cut short, as the system does at its own limit. */
    int MAX_LENGTH = 1 << 30;

    /** An open file. */
    interface Handle extends AutoCloseable {
        long length();

        @Override
        void close();
    }

    /** The backend's name, and why it was chosen. */
    String describe();

    /** Opens a file. Safe from any thread. */
    Handle open(Path path, boolean read, boolean write);

    /** Submits an operation, which ends exactly once, during {@link #poll} or {@link #stop}; throws when stopped. Safe from any thread. */
    void submit(FileOperation operation);

    /** Ends an operation early if possible; the operation carries the cause. Safe from any thread. */
    void cancel(FileOperation operation);

    /** A descriptor that becomes readable when an operation has ended; null when the backend wakes the owner. The caller closes it. */
    @Nullable
    EventDescriptor readiness();

    /** Whether a transient condition that sends no notice prevented a start. */
    boolean retries();

    /** Completes ended operations and starts submitted ones. Returns how many ended. */
    int poll(int limit);

    /** The number of operations that have not ended, including those submitted before the owner was woken. */
    int pending();

    /** Refuses new operations and ends all others early. */
    void stop(IreeException cause);

    /** Called when nothing is pending. */
    void close();
}

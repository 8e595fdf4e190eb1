package io.github.iree4j.async;

import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Who makes the transfers of files. Calls come from the owner of the proactor unless they say "any thread"; after those the owner is to
 * be woken.
 */
interface FileBackend {
    /** Most bytes of one transfer; longer ones are cut, as the system does at its own limit. */
    int MAX_LENGTH = 1 << 30;

    /** A file that is open. */
    interface Handle extends AutoCloseable {
        long length();

        @Override
        void close();
    }

    /** Names it, and says why it was chosen. */
    String describe();

    /** Any thread. */
    Handle open(Path path, boolean read, boolean write);

    /** Any thread. Throws when stopped; else the operation ends exactly once, during {@link #poll} or {@link #stop}. */
    void submit(FileOperation operation);

    /** Any thread. Has an operation end early if that is possible; it says why itself. */
    void cancel(FileOperation operation);

    /** What becomes readable when something has ended; null when the backend wakes the owner. The caller closes it. */
    @Nullable
    EventDescriptor readiness();

    /** Whether something could not be started for a reason that will pass without notice. */
    boolean retries();

    /** Ends what has ended, and starts what was submitted. Returns how many ended. */
    int poll(int limit);

    /** How many operations have not ended; also those submitted before the owner was woken. */
    int pending();

    /** Refuses what comes from now on and has everything else end early. */
    void stop(IreeException cause);

    /** When nothing is pending. */
    void close();
}

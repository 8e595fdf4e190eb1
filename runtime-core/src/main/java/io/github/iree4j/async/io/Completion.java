package io.github.iree4j.async.io;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * Receives the outcome of a {@link Proactor}'s operation: once, on the proactor's owner thread.
 *
 * <p>A completion MUST NOT block, wait for anything brought about by the same proactor, or poll the proactor. A
 * completion MAY start further operations, cancel others, signal timelines and close the proactor. An exception thrown
 * by a completion is logged and otherwise ignored.
 */
@FunctionalInterface
@NotForApplications
public interface Completion {
    /**
     * Called when the operation has ended and nothing touches the operation's memory any more.
     *
     * @param result the operation's result, such as bytes moved; 0 without a result or after a failure
     * @param failure the cause of the failure; CANCELLED when the operation was cancelled or the proactor closed; null
     *     on success
     */
    void ended(long result, @Nullable IreeException failure);
}

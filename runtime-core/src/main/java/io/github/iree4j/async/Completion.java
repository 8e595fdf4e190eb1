package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * Receives the outcome of a {@link Proactor}'s operation: once, on the proactor's owner thread.
 *
 * <p>It MUST NOT block, wait for anything that the same proactor brings about, or poll the proactor. It MAY start further operations,
 * cancel others, signal timelines and close the proactor. What it throws is logged and otherwise ignored.
 */
@FunctionalInterface
public interface Completion {
    /**
     * Called when the operation is over and nothing touches its memory any more.
     *
     * @param result the operation's result, such as bytes moved; 0 if it has none or failed
     * @param failure why it failed; CANCELLED when it was cancelled or the proactor closed; null when it did not fail
     */
    void ended(long result, @Nullable IreeException failure);
}

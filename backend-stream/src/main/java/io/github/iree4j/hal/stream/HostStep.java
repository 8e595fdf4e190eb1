package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The host's part of an operation. The step blocks the operation's stream; the hardware continues with other streams.
 */
interface HostStep {

    /**
     * Runs the step, on a separate virtual thread. An exception also ends the step.
     *
     * @param done notified once when the step is complete, from any thread, now or later; with the failure, or null
     */
    void run(Consumer<@Nullable IreeException> done);

    /**
     * Clears data to be read by later commands of the stream. Called when the step has failed, or does not run because
     * of a failure of the operation.
     */
    default void failed() {}
}

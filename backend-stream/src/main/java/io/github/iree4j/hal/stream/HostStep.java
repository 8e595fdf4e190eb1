package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The host's part of an operation. The step blocks its stream, but not the hardware, which runs the work of other streams. */
interface HostStep {

    /**
     * Runs the step, on its own virtual thread. An exception also ends the step.
     *
     * @param done notified once when the step is complete, from any thread, now or later; with the failure, or null
     */
    void run(Consumer<@Nullable IreeException> done);

    /**
     * Clears data that later commands of the stream would read. Called when the step has failed, or does not run
     * because its operation has failed.
     */
    default void failed() {}
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The host's part of an operation. It blocks the stream, but not the hardware, which runs the work of other streams. */
interface HostStep {

    /**
     * Runs the step, on its own virtual thread. A throw ends it too.
     *
     * @param done notified once when the step is complete, from any thread, now or later; with the failure, or null
     */
    void run(Consumer<@Nullable IreeException> done);

    /** The step has failed, or is not run since its operation has: clears what later commands of the stream would read. */
    default void failed() {}
}

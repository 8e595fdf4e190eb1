package io.github.iree4j.hal.stream;

import org.jspecify.annotations.Nullable;

/** Recorded commands, lent for an execution. */
interface StreamWork {

    /**
     * Returns the name of the operation.
     *
     * @return the name, for messages
     */
    String name();

    /**
     * Returns the commands. They run after everything submitted before.
     *
     * @return the commands, borrowed until {@link #over}
     */
    DriverCommands commands();

    /**
     * Returns the submitter's context for the commands.
     *
     * @return the result of {@link Lane#context} on the submitting thread
     */
    default @Nullable Object context() {
        return null;
    }

    /**
     * Releases the commands: the hardware is done with the commands, or will never run the commands. Called once, from
     * any thread with no lock held; must not throw.
     */
    void over();
}

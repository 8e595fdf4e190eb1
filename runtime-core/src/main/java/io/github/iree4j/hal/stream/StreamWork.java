package io.github.iree4j.hal.stream;

import org.jspecify.annotations.Nullable;

/** Recorded commands, lent for one execution. */
interface StreamWork {

    /**
     * Returns the name of the operation.
     *
     * @return the name, for messages
     */
    String name();

    /**
     * Returns the commands, which run after everything submitted before.
     *
     * @return the commands, borrowed until {@link #over}
     */
    DriverCommands commands();

    /**
     * Returns what goes with the commands.
     *
     * @return what {@link Lane#context} returned to the submitter
     */
    default @Nullable Object context() {
        return null;
    }

    /**
     * The hardware is done with the commands, or will never run them. Called once, from any thread with no lock held; must not throw.
     */
    void over();
}

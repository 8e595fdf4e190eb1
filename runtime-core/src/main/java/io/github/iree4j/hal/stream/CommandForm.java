package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;

/**
 * What a driver makes of one recording, lent to one execution at a time. An execution resolves the bindings that the form was made with, has
 * the form {@linkplain #prepare prepared}, and submits the result. One thread at a time.
 */
public interface CommandForm extends AutoCloseable {

    /**
     * Makes the commands agree with the bindings. {@link ResolvedBindings#anyChanged} says whether something lies elsewhere than at the
     * call before.
     *
     * @param operation the operation's name, for messages
     * @return the commands, valid until the execution is complete
     * @throws IreeException why a command cannot use what it is given
     */
    DriverCommands prepare(String operation);

    /** The bindings changed and {@link #prepare} was not called, or has failed: the next call starts over. */
    void invalidate();

    /** Frees it. No hardware runs its commands. */
    @Override
    void close();
}

package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;

/**
 * A driver's form of a recording, lent to a single execution at a time. An execution resolves the bindings of the form,
 * has the form {@linkplain #prepare prepared}, and submits the result. Confined to a thread at a time.
 */
public interface CommandForm extends AutoCloseable {

    /**
     * Makes the commands match the bindings. {@link ResolvedBindings#anyChanged} returns whether a binding has moved
     * since the previous call.
     *
     * @param operation the operation's name, for messages
     * @return the commands, valid until the execution is complete
     * @throws IreeException if a command cannot use the bindings
     */
    DriverCommands prepare(String operation);

    /** Discards the state of the form: the bindings changed, and {@link #prepare} was not called or has failed. */
    void invalidate();

    /** Frees the form. No hardware runs the commands. */
    @Override
    void close();
}

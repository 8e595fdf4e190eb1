package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.schedule.QueueOperation;

/** An operation of a virtual device without effects. The {@link VirtualScript} sets the duration. */
public class VirtualOperation extends QueueOperation {
    /**
     * Makes an operation.
     *
     * @param name the name in messages
     */
    public VirtualOperation(String name) {
        super(name);
    }

    @Override
    protected final void retain() {}

    @Override
    protected final void release() {}
}

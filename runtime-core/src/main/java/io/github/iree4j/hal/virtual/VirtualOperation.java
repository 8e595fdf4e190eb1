package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.schedule.QueueOperation;

/** An operation of a virtual device that takes as long as its {@link VirtualScript} says and does nothing else. */
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

package io.github.iree4j.hal.schedule;

/** An operation without work or uses. */
class Nothing extends QueueOperation {
    Nothing() {
        super("nothing");
    }

    @Override
    protected void retain() {}

    @Override
    protected void release() {}
}

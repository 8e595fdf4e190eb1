package io.github.iree4j.hal.schedule;

/** An operation that does nothing and uses nothing. */
class Nothing extends QueueOperation {
    Nothing() {
        super("nothing");
    }

    @Override
    protected void retain() {}

    @Override
    protected void release() {}
}

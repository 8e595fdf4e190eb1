package io.github.iree4j.hal.schedule;

/** A stream accepting operations without doing anything; the benchmark completes the operations. */
final class NoHardware implements FifoBackend {
    /** Total number of waits of all operations. */
    long waits;

    /** An operation without work. */
    static final class Nothing extends QueueOperation {
        Nothing() {
            super("nothing");
        }

        @Override
        protected void retain() {}

        @Override
        protected void release() {}
    }

    @Override
    public boolean issue(Issue next) {
        waits += next.waits().size();
        return true;
    }

    @Override
    public boolean canWaitFor(FifoBackend producer, long epoch) {
        return true;
    }

    @Override
    public boolean canWaitForExternal(Object primitive) {
        return false;
    }
}

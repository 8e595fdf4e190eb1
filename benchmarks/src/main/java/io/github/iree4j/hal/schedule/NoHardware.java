package io.github.iree4j.hal.schedule;

/** A stream that takes what comes and does nothing; who benchmarks says when that is over. */
final class NoHardware implements FifoBackend {
    /** How much it was to wait for, all operations together. */
    long waits;

    /** Nothing to be done. */
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

package io.github.iree4j.vm;

/** The condition that a yielded call waits for. Safe from any thread. */
public interface VmWait {
    /** The wait of a call that merely yields. */
    VmWait NONE = new VmWait() {
        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void whenReady(Runnable callback) {
            callback.run();
        }

        @Override
        public void await() {}

        @Override
        public String toString() {
            return "VmWait.NONE";
        }
    };

    /**
     * Returns whether the call can be resumed now, without blocking.
     *
     * @return true once the condition has been met or has failed; it stays true
     */
    boolean isReady();

    /**
     * Runs a callback once, when ready; at once on this thread if it already is.
     *
     * @param callback MUST return quickly, MUST NOT block or throw; runs on the thread that makes the wait ready
     */
    void whenReady(Runnable callback);

    /**
     * Blocks until ready.
     *
     * @throws InterruptedException when the thread is interrupted first
     */
    void await() throws InterruptedException;
}

package io.github.iree4j.vm;

/** Something a yielded call waits for. Safe from any thread. */
public interface VmWait {
    /** The wait of a call that merely gives others a turn. */
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
     * @return true once what is waited for has happened or failed; it stays true
     */
    boolean isReady();

    /**
     * Runs something once, when ready; at once on this thread when that is already so.
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

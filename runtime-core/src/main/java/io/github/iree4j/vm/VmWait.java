package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import java.util.concurrent.CompletableFuture;

/** The condition of a deferred call's resumption. Safe from any thread. */
@NotForApplications
public interface VmWait {
    /** The wait of a call that only yields. */
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
     * Returns a wait for a future, whatever its outcome.
     *
     * @param future a future that completes some time
     * @return the wait
     */
    static VmWait of(CompletableFuture<?> future) {
        return new FutureWait(future);
    }

    /**
     * Returns whether the call can be resumed now, without blocking.
     *
     * @return true once the condition has been met or has failed, and true from then on
     */
    boolean isReady();

    /**
     * Runs a callback once, when ready; immediately on this thread when already ready.
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

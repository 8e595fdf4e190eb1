package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;

/** Threads for calls that block while waiting: virtual threads where possible, so a thousand waiting calls cost no more than their stacks. */
@NotForApplications
public final class CallThreads {
    private CallThreads() {}

    /**
     * Runs a task on a new thread.
     *
     * @param name the thread's name
     * @param body the task; must not throw
     */
    public static void start(String name, Runnable body) {
        Thread.ofVirtual().name(name).start(body);
    }

    /**
     * Makes a thread for calls that block in native code, where a virtual thread would keep its carrier.
     *
     * @param name the thread's name
     * @param body the task; must not throw
     * @return the thread, not started yet; does not keep the process alive
     */
    public static Thread forNativeWaits(String name, Runnable body) {
        return Thread.ofPlatform().name(name).daemon().unstarted(body);
    }
}

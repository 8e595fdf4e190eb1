package io.github.iree4j.async;

/** Threads for calls that block while they wait: virtual ones where they can be, so that a thousand waiting calls cost no more than their stacks. */
public final class CallThreads {
    private CallThreads() {}

    /**
     * Runs a task on a thread of its own.
     *
     * @param name the thread's name
     * @param body the task; must not throw
     */
    public static void start(String name, Runnable body) {
        Thread.ofVirtual().name(name).start(body);
    }

    /**
     * Makes a thread for calls that block in native code, where a virtual one would keep its carrier.
     *
     * @param name the thread's name
     * @param body the task; must not throw
     * @return the thread, which does not keep the process alive and is not started yet
     */
    public static Thread forNativeWaits(String name, Runnable body) {
        return Thread.ofPlatform().name(name).daemon().unstarted(body);
    }
}

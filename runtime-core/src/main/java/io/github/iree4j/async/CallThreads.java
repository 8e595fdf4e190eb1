package io.github.iree4j.async;

/** Threads for calls that block while they wait: virtual ones, so that a thousand waiting calls cost no more than their stacks. */
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
}

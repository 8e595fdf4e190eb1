package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;

/**
 * Holds back the callbacks of this thread during a locked section. The thread may promise, signal and fail timelines
 * under the lock: callbacks becoming due run once the lock is released.
 *
 * <pre>{@code
 * boolean held = HeldCallbacks.begin();
 * try {
 *     synchronized (lock) { ... semaphore.signal(v); ... }
 * } finally {
 *     HeldCallbacks.end(held);
 * }
 * }</pre>
 */
@NotForApplications
public final class HeldCallbacks {
    private HeldCallbacks() {}

    /**
     * Begins to hold back callbacks.
     *
     * @return the argument for {@link #end}
     */
    public static boolean begin() {
        return Callbacks.hold();
    }

    /**
     * Runs the callbacks held back, unless an enclosing {@link #begin} or callback of this thread will.
     *
     * @param held the result of {@link #begin}
     */
    public static void end(boolean held) {
        if (held) {
            Callbacks.letGo();
        }
    }

    /**
     * Returns whether this thread is in a callback or holds some back. Such a thread must not wait for anything that
     * may depend on the thread's pending callbacks.
     *
     * @return true until these callbacks have run
     */
    public static boolean isInCallback() {
        return Callbacks.isRunning();
    }

    /**
     * Runs this thread's callbacks that are due, for a thread in a callback that is about to wait for something which may
     * depend on these callbacks. Without locks.
     */
    public static void help() {
        Callbacks.help();
    }

    /**
     * Runs an action as a callback of this thread: now, or after all held and current callbacks.
     *
     * @param action the action; the contract of {@link Timepoint} holds
     */
    public static void run(Runnable action) {
        Callbacks.runLater(action);
    }

    /**
     * Runs an action when nothing else is due on this thread: now, or after all held and current callbacks and all
     * callbacks made due by these. For work better done once for all of these callbacks.
     *
     * @param action the action; the contract of {@link Timepoint} holds
     */
    public static void runLast(Runnable action) {
        Callbacks.runLast(action);
    }
}

package io.github.iree4j.async;

/**
 * Holds back the callbacks of this thread while it holds a lock, so that it may promise, signal and fail timelines under that lock: what
 * becomes due runs once the lock is released.
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
     * Returns whether this thread is in a callback or holds some back. If so, it must not wait for what may depend on its own pending
     * callbacks.
     *
     * @return true until those callbacks have run
     */
    public static boolean isInCallback() {
        return Callbacks.isRunning();
    }

    /**
     * Runs an action as a callback of this thread: now, or after those it holds back or is in.
     *
     * @param action the action; the contract of {@link Timepoint} holds
     */
    public static void run(Runnable action) {
        Callbacks.runLater(action);
    }

    /**
     * Runs an action when nothing else is due on this thread: now, or after all callbacks that it holds back or is in, and those that they
     * make due. For work that is better done once for all of them.
     *
     * @param action the action; the contract of {@link Timepoint} holds
     */
    public static void runLast(Runnable action) {
        Callbacks.runLast(action);
    }
}

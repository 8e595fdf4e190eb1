package io.github.iree4j.async;

/**
 * Keeps callbacks of this thread back while it holds a lock, so that it may promise, signal and fail timelines under that lock: what
 * becomes due runs once the lock is given up.
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
     * Begins to keep callbacks back.
     *
     * @return what {@link #end} takes
     */
    public static boolean begin() {
        return Callbacks.hold();
    }

    /**
     * Runs what was kept back, unless this thread keeps callbacks back, or is in one, anyway.
     *
     * @param held what {@link #begin} returned
     */
    public static void end(boolean held) {
        if (held) {
            Callbacks.letGo();
        }
    }

    /**
     * Returns whether this thread is in a callback, or keeps some back: it must not wait for what others may make due here.
     *
     * @return true until they have run
     */
    public static boolean isInCallback() {
        return Callbacks.isRunning();
    }

    /**
     * Runs something with the callbacks of this thread: now, or after those it keeps back or is in.
     *
     * @param action what to run; the contract of {@link Timepoint} holds
     */
    public static void run(Runnable action) {
        Callbacks.runLater(action);
    }

    /**
     * Runs something when nothing else is due on this thread: now, or after all callbacks that it keeps back or is in, and those that they
     * make due. For what is better done once for all of them.
     *
     * @param action what to run; the contract of {@link Timepoint} holds
     */
    public static void runLast(Runnable action) {
        Callbacks.runLast(action);
    }
}

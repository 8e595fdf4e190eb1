package io.github.iree4j.hal.stream;

import java.util.ArrayList;
import java.util.List;

/**
 * Observers of the next change, each notified once. Safe from any thread.
 *
 * @param <T> type of the observers
 */
public final class Followers<T> {
    private final List<T> waiting = new ArrayList<>(0); // guarded by itself

    /** Creates an empty list. */
    public Followers() {}

    /**
     * Adds an observer of the next change, once. The observer must check for changes afterwards.
     *
     * @param follower the observer
     */
    public void add(T follower) {
        synchronized (waiting) {
            if (!waiting.contains(follower)) {
                waiting.add(follower);
            }
        }
    }

    /**
     * Removes all observers; called after a change.
     *
     * @return the observers, for the caller to notify
     */
    public List<T> takeAll() {
        synchronized (waiting) {
            if (waiting.isEmpty()) {
                return List.of();
            }
            List<T> all = List.copyOf(waiting);
            waiting.clear();
            return all;
        }
    }
}

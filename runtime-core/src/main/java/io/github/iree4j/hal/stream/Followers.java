package io.github.iree4j.hal.stream;

import java.util.ArrayList;
import java.util.List;

/**
 * Those who wait for something to change, each told once. Safe from any thread.
 *
 * @param <T> who they are
 */
public final class Followers<T> {
    private final List<T> waiting = new ArrayList<>(0); // guarded by itself

    /** Makes an empty list. */
    public Followers() {}

    /**
     * Has one told of the next change.
     *
     * @param follower looks once more after this
     */
    public void add(T follower) {
        synchronized (waiting) {
            if (!waiting.contains(follower)) {
                waiting.add(follower);
            }
        }
    }

    /**
     * After a change: removes all.
     *
     * @return those who are to be told
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

package io.github.iree4j.hal.gpu;

import java.util.ArrayList;
import java.util.List;

/** Those who wait for something to change, each told once. */
final class GpuFollowers<T> {
    private final List<T> waiting = new ArrayList<>(0); // guarded by itself

    /** Has one told of the next change. */
    void add(T follower) {
        synchronized (waiting) {
            if (!waiting.contains(follower)) { // GPU-3: it looks once more after this
                waiting.add(follower);
            }
        }
    }

    /** After a change: those who are to be told. */
    List<T> takeAll() {
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

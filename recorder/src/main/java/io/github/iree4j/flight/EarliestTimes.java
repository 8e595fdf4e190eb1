package io.github.iree4j.flight;

import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The earliest times of the host's actions in a model, if each action may follow any earlier recorded end, with the
 * recorded delay, or no end. An end early by some nanoseconds makes all later actions as early. Confined to one thread.
 *
 * @param <T> the actions
 */
final class EarliestTimes<T> {
    static final long NEVER = Long.MAX_VALUE;

    private final TreeMap<Long, Queue<T>> actions = new TreeMap<>(); // to come, by recorded time
    // by how much actions are early, from a recorded time on; increases; each has actions before the next
    private final TreeMap<Long, Long> early = new TreeMap<>(Map.of(Long.MIN_VALUE, 0L));

    void add(long recorded, T action) {
        actions.computeIfAbsent(recorded, unused -> new ArrayDeque<>()).add(action);
    }

    /** Notes the time of a recorded end in the model. */
    void ended(long recorded, long now) {
        long gained = recorded - now;
        Map.Entry<Long, Long> before = early.floorEntry(recorded);
        if (before != null && before.getValue() >= gained) {
            return;
        }
        while (early.ceilingEntry(recorded) instanceof Map.Entry<Long, Long> after && after.getValue() <= gained) {
            early.remove(after.getKey());
        }
        early.put(recorded, gained);
    }

    /** Removes a due action, or returns null. */
    @Nullable
    T poll(long now) {
        Map.Entry<Long, Queue<T>> next = first();
        if (next == null || time(next.getKey()) > now) {
            return null;
        }
        T action = next.getValue().remove();
        if (next.getValue().isEmpty()) {
            actions.remove(next.getKey());
        }
        return action;
    }

    /** Returns the time in the model of the next action, as far as known; {@link #NEVER} for none. */
    long next() {
        Map.Entry<Long, Queue<T>> next = first();
        return next == null ? NEVER : time(next.getKey());
    }

    private long time(long recorded) {
        Map.Entry<Long, Long> gained = early.floorEntry(recorded);
        return recorded - (gained == null ? 0 : gained.getValue());
    }

    /** Returns the next actions in the model, with the recorded time. */
    private Map.@Nullable Entry<Long, Queue<T>> first() {
        Map.Entry<Long, Queue<T>> first = null;
        for (Long from = early.firstKey(); from != null; ) {
            Long next = early.higherKey(from);
            Map.Entry<Long, Queue<T>> after = actions.ceilingEntry(from);
            if (after == null || next != null && after.getKey() >= next) {
                early.remove(from); // nothing to come is early by as much
            } else if (first == null || time(after.getKey()) < time(first.getKey())) {
                first = after;
            }
            from = next;
        }
        if (early.isEmpty()) {
            early.put(Long.MIN_VALUE, 0L);
        }
        return first;
    }
}

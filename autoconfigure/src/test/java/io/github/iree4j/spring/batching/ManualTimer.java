package io.github.iree4j.spring.batching;

import java.util.Comparator;
import java.util.PriorityQueue;

/** A manual clock. */
final class ManualTimer implements BatchTimer {
    private record Task(long at, long order, Runnable action) {}

    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::order));
    private long now;
    private long order;

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public synchronized Runnable schedule(long nanos, Runnable action) {
        Task task = new Task(now + nanos, order++, action);
        tasks.add(task);
        return () -> {
            synchronized (this) {
                tasks.remove(task);
            }
        };
    }

    /** Advances the time and runs the due actions. */
    void advance(long nanos) {
        long target = nanoTime() + nanos;
        while (true) {
            Task next;
            synchronized (this) {
                next = tasks.peek();
                if (next == null || next.at > target) {
                    now = target;
                    return;
                }
                tasks.remove();
                now = Math.max(now, next.at);
            }
            next.action.run();
        }
    }

    synchronized int planned() {
        return tasks.size();
    }
}

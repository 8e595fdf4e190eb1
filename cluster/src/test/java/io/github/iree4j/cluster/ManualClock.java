package io.github.iree4j.cluster;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A clock moved by tests, and an executor run on request. */
public final class ManualClock implements LongSupplier, Executor {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000_000); // wraps soon, as System.nanoTime may
    private final Queue<Runnable> tasks = new ArrayDeque<>();

    @Override
    public long getAsLong() {
        return nanos.get();
    }

    public void advance(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    @Override
    public synchronized void execute(Runnable task) {
        tasks.add(task);
    }

    public synchronized int waiting() {
        return tasks.size();
    }

    /** Runs the waiting actions. */
    public void runAll() {
        for (; ; ) {
            Runnable next;
            synchronized (this) {
                next = tasks.poll();
            }
            if (next == null) {
                return;
            }
            next.run();
        }
    }
}

package io.github.iree4j.hal.local;

import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a device. A thread acquires one to execute commands and gives it back before it runs anybody's callback, so whoever
 * waits for one waits for running kernels only. Safe from any thread.
 */
final class Workers {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition returned = lock.newCondition();
    private final int count;
    // Guarded by lock.
    private final ArrayDeque<Worker> idle = new ArrayDeque<>(); // the last one used first: its memory is warm
    private int created;
    private boolean closed;

    Workers(int count) {
        this.count = count;
    }

    int count() {
        return count;
    }

    Worker acquire() {
        lock.lock();
        try {
            for (; ; ) {
                @Nullable Worker worker = idle.poll();
                if (worker != null) {
                    return worker;
                }
                if (created < count) {
                    return new Worker(created++);
                }
                returned.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    void release(Worker worker) {
        lock.lock();
        try {
            if (closed) {
                worker.close();
                created--;
            } else {
                idle.push(worker);
            }
            returned.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Frees the memory of idle workers now, of busy ones when they are done. */
    void close() {
        lock.lock();
        try {
            closed = true;
            for (Worker worker : idle) {
                worker.close();
                created--;
            }
            idle.clear();
        } finally {
            lock.unlock();
        }
    }
}

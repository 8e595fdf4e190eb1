package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A process with a lambda as drain, and with counted callbacks. */
class TestProcess extends TaskProcess {
    /** A drain function. */
    @FunctionalInterface
    interface Drain {
        DrainResult drain(WorkerContext worker) throws Exception;
    }

    private static final Duration LONG = Duration.ofSeconds(60);

    final AtomicInteger drains = new AtomicInteger();
    final AtomicInteger completions = new AtomicInteger();
    final AtomicInteger releases = new AtomicInteger();
    final AtomicInteger inside = new AtomicInteger();
    final AtomicInteger drainsAfterCompletion = new AtomicInteger();
    final AtomicInteger insideWhenReleased = new AtomicInteger();
    private final CountDownLatch released = new CountDownLatch(1);
    private final Drain drain;
    volatile @Nullable IreeException completedWith;
    volatile Runnable whenCompleted = () -> {};

    TestProcess(ProcessOptions options, Drain drain) {
        super(options);
        this.drain = drain;
    }

    static TestProcess of(String name, Drain drain) {
        return new TestProcess(ProcessOptions.named(name), drain);
    }

    /** A process completed by the first drain. */
    static TestProcess oneShot(String name) {
        return of(name, worker -> DrainResult.COMPLETED);
    }

    /** A process completed by the n-th drain. */
    static TestProcess after(int drains, ProcessOptions options) {
        AtomicInteger left = new AtomicInteger(drains);
        return new TestProcess(
                options, worker -> left.decrementAndGet() <= 0 ? DrainResult.COMPLETED : DrainResult.WORKED);
    }

    @Override
    protected DrainResult drain(WorkerContext worker) throws Exception {
        inside.incrementAndGet();
        try {
            if (releases.get() > 0) {
                drainsAfterCompletion.incrementAndGet();
            }
            drains.incrementAndGet();
            return drain.drain(worker);
        } finally {
            inside.decrementAndGet();
        }
    }

    @Override
    protected void completed(@Nullable IreeException failure) {
        completedWith = failure;
        completions.incrementAndGet();
        whenCompleted.run();
    }

    @Override
    protected void released() {
        insideWhenReleased.addAndGet(inside.get());
        releases.incrementAndGet();
        released.countDown();
    }

    void awaitReleased() {
        try {
            if (!released.await(LONG.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError(this + " is not over after " + LONG + ", state " + state());
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}

package io.github.iree4j.async.io;

import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A source with operations that end on a test's command. */
final class StepSource implements CompletionSource {
    /** The timeouts requested by the owner; a caller-driven test does not sleep. */
    final List<Long> awaited = new ArrayList<>();

    final List<String> calls = new ArrayList<>();
    final ConcurrentLinkedQueue<Operation> underWay = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<Operation> finished = new ConcurrentLinkedQueue<>();

    /** Whether to really sleep. */
    boolean sleeps;

    /** Whether operations outlive a stop, as a kernel's do. */
    boolean slowToStop;

    volatile @Nullable RuntimeException broken;
    private final Semaphore wakes = new Semaphore(0);

    record Operation(
            long result, Completion completion, @Nullable IreeException failure) {}

    Operation begin(long result, Completion completion) {
        Operation operation = new Operation(result, completion, null);
        underWay.add(operation);
        return operation;
    }

    void finish(Operation operation) {
        finished.add(operation);
    }

    @Override
    public void await(long timeoutNanos) {
        awaited.add(timeoutNanos);
        if (broken != null) {
            throw broken;
        }
        if (sleeps) {
            try {
                if (timeoutNanos < 0) {
                    wakes.acquire();
                } else {
                    wakes.tryAcquire(timeoutNanos, TimeUnit.NANOSECONDS);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    public void wake() {
        wakes.release();
    }

    @Override
    public int poll(int limit) {
        int called = 0;
        for (Operation each; called < limit && (each = finished.poll()) != null; called++) {
            underWay.remove(each);
            each.completion.ended(each.failure == null ? each.result : 0, each.failure);
        }
        return called;
    }

    @Override
    public int pending() {
        return underWay.size();
    }

    @Override
    public void stop(IreeException cause) {
        calls.add("stop " + cause.code());
        if (!slowToStop) {
            for (Operation each; (each = underWay.poll()) != null; ) {
                each.completion.ended(0, cause);
            }
        }
    }

    @Override
    public void close() {
        calls.add("close");
    }
}

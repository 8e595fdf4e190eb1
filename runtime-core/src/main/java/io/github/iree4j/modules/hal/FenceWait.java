package io.github.iree4j.modules.hal;

import io.github.iree4j.async.AwaitsFences;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import io.github.iree4j.vm.VmWait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The wait of a suspended {@code hal.fence.await}: ready when all fences are reached, when a fence has failed, or on
 * timeout. The fences are borrowed; the suspended call retains them.
 */
final class FenceWait implements VmWait, AwaitsFences {
    private final List<Fence> fences;
    private final long deadlineNanos;
    private final boolean forever;

    /** Creates a wait with a timeout; a negative timeout means no timeout, as -1 does in programs. */
    FenceWait(List<Fence> fences, int timeoutMillis) {
        this.fences = fences;
        this.forever = timeoutMillis < 0;
        this.deadlineNanos = forever ? 0 : System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    }

    @Override
    public List<Fence> awaited() {
        return fences;
    }

    @Override
    public boolean isReady() {
        boolean reached = true;
        for (Fence fence : fences) {
            if (fence.failure().isPresent()) {
                return true;
            }
            reached &= fence.isReached();
        }
        return reached || nanosLeft() <= 0;
    }

    private long nanosLeft() {
        return forever ? Long.MAX_VALUE : deadlineNanos - System.nanoTime();
    }

    @Override
    public void whenReady(Runnable callback) {
        Countdown countdown = new Countdown(fences.size(), callback);
        List<Cancellation> waits = new ArrayList<>(fences.size());
        for (Fence fence : fences) {
            waits.add(fence.whenReached(failure -> {
                if (failure == null) {
                    countdown.one();
                } else {
                    countdown.all();
                }
            }));
        }
        if (!forever) {
            Executor late =
                    CompletableFuture.delayedExecutor(Math.max(0, nanosLeft()), TimeUnit.NANOSECONDS, Runnable::run);
            late.execute(() -> {
                waits.forEach(Cancellation::cancel);
                countdown.all();
            });
        }
    }

    @Override
    public void await() throws InterruptedException {
        CountDownLatch over = new CountDownLatch(1);
        whenReady(over::countDown);
        over.await();
    }

    /**
     * Runs the callback once: after {@code left} calls of one(), or at the first call of all().
     *
     * <p>WAIT-1: the thread taking {@code left} from above zero to zero or below runs the callback, and {@code left}
     * never returns above zero.
     */
    private static final class Countdown {
        private final AtomicInteger left;
        private final Runnable callback;

        Countdown(int count, Runnable callback) {
            this.left = new AtomicInteger(count);
            this.callback = callback;
        }

        void one() {
            if (left.decrementAndGet() == 0) {
                callback.run();
            }
        }

        void all() {
            if (left.getAndSet(Integer.MIN_VALUE / 2) > 0) {
                callback.run();
            }
        }
    }
}

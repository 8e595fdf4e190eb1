package io.github.iree4j.vm;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** A wait for a future, whatever its outcome. */
record FutureWait(CompletableFuture<?> future) implements VmWait {
    @Override
    public boolean isReady() {
        return future.isDone();
    }

    @Override
    public void whenReady(Runnable callback) {
        future.whenComplete((_, _) -> callback.run());
    }

    @Override
    public void await() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        whenReady(done::countDown);
        done.await();
    }
}

package io.github.iree4j.async;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A platform thread for what must not hold up the thread that brings it about: calls of drivers that may block, memory that is mapped. Runs
 * what it is given in that order. The thread is there while there is something to do, and a little longer; there is nothing to close.
 */
public final class HandoffThread implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(HandoffThread.class);
    private static final int IDLE_SECONDS = 10;

    private final ThreadPoolExecutor thread;

    /**
     * Makes one; the thread is started with the first thing to do.
     *
     * @param name what the thread is called, for thread dumps
     */
    public HandoffThread(String name) {
        thread = new ThreadPoolExecutor(
                1,
                1,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().daemon().name(name).factory());
        thread.allowCoreThreadTimeOut(true);
    }

    @Override
    public void execute(Runnable action) {
        thread.execute(() -> {
            try {
                action.run();
            } catch (Throwable t) { // the next is not to suffer for it
                LOG.error(
                        "what was handed to thread '{}' threw",
                        Thread.currentThread().getName(),
                        t);
            }
        });
    }
}

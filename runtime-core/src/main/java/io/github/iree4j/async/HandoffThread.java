package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A platform thread for work that must not delay the triggering thread: driver calls that may block, mapping memory.
 * Runs actions in FIFO order. The thread ends after an idle period; there is nothing to close.
 */
@NotForApplications
public final class HandoffThread implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(HandoffThread.class);
    private static final int IDLE_SECONDS = 10;

    private final ThreadPoolExecutor thread;

    /**
     * Creates an executor, whose thread starts with the first action.
     *
     * @param name the thread's name
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
            } catch (Throwable t) { // must not affect the next action
                LOG.error(
                        "an action on thread '{}' threw", Thread.currentThread().getName(), t);
            }
        });
    }
}

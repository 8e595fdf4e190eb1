package io.github.iree4j.spring.autoconfigure;

import org.springframework.context.SmartLifecycle;

/**
 * Tells the {@link IreeLifecycle} that the application begins to stop. A web server that stops gracefully waits for its
 * requests, which may wait for calls, and only then does that lifecycle stop: this stops with the web server, and does
 * not keep the phase waiting itself. It depends on that lifecycle, since Spring stops what depends on a bean before it.
 */
final class IreeStopping implements SmartLifecycle {

    /** That of the graceful shutdown of web servers. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 1024;

    private final IreeLifecycle lifecycle;
    private volatile boolean running;

    IreeStopping(IreeLifecycle lifecycle) {
        this.lifecycle = lifecycle;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        lifecycle.limitCalls();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}

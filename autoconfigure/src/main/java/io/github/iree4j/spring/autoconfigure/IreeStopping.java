package io.github.iree4j.spring.autoconfigure;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Tells the {@link IreeLifecycle} that the application begins to stop. A server that stops gracefully waits for its
 * requests, which may wait for calls, and only then does that lifecycle stop: this notices that the context closes,
 * before any server stops, or where it is only stopped, stops with the web server, and does not keep the phase waiting
 * itself. It depends on that lifecycle, since Spring stops what depends on a bean before it.
 */
final class IreeStopping implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {

    /** That of the graceful shutdown of web servers. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 1024;

    private final IreeLifecycle lifecycle;
    private final ApplicationContext context;
    private volatile boolean running;

    IreeStopping(IreeLifecycle lifecycle, ApplicationContext context) {
        this.lifecycle = lifecycle;
        this.context = context;
    }

    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (running && event.getApplicationContext().equals(context)) { // children publish theirs here as well
            begin();
        }
    }

    private void begin() {
        lifecycle.limitCalls(() -> context.publishEvent(new StopOverdueEvent(context)));
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        begin();
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

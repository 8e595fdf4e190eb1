package io.github.iree4j.spring.autoconfigure;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Notifies the {@link IreeLifecycle} when the application begins to stop. A server stopping gracefully waits for
 * requests, which may wait for calls, and only afterwards does the lifecycle stop. This bean acts when the context
 * closes, before any server stops. When the context is only stopped, this bean stops together with the web server,
 * without keeping the phase waiting. This bean depends on the lifecycle, since Spring stops dependents of a bean before
 * the bean.
 */
final class IreeStopping implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {

    /** The phase of the graceful shutdown of web servers. */
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
        // child contexts publish their events here as well
        if (running && event.getApplicationContext().equals(context)) {
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

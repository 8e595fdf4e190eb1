package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.ProgramStatusEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * Publishes program statuses: to the log immediately, to listeners once all beans exist. Listeners may depend on the
 * programs, which are loaded during context refresh; earlier statuses are buffered and published in order.
 */
final class ProgramStatusPublisher implements Consumer<ProgramStatus>, SmartLifecycle {

    private final ProgramStatusLog log;
    private final ApplicationEventPublisher publisher;
    private final List<ProgramStatus> early = new ArrayList<>(); // guarded by itself, as is the next field
    private boolean running;

    ProgramStatusPublisher(IreeEvents events, ApplicationEventPublisher publisher) {
        this.log = new ProgramStatusLog(events);
        this.publisher = publisher;
    }

    @Override
    public void accept(ProgramStatus status) {
        log.write(status);
        synchronized (early) {
            if (!running) {
                early.add(status);
                return;
            }
        }
        publisher.publishEvent(new ProgramStatusEvent(this, status));
    }

    @Override
    public void start() {
        List<ProgramStatus> heldBack;
        synchronized (early) {
            running = true;
            heldBack = List.copyOf(early);
            early.clear();
        }
        heldBack.forEach(status -> publisher.publishEvent(new ProgramStatusEvent(this, status)));
    }

    @Override
    public void stop() {
        synchronized (early) {
            running = false;
        }
    }

    @Override
    public boolean isRunning() {
        synchronized (early) {
            return running;
        }
    }

    /** Starts before all beans that load programs or take calls. */
    @Override
    public int getPhase() {
        return IreeLifecycle.PHASE - 1;
    }
}

package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.ProgramStatusEvent;
import io.github.iree4j.spring.Programs;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;

/**
 * Keeps the application from being ready for requests while programs are loaded beside its start: when it says that it is and they are not,
 * this takes it back, and says so once they are.
 */
final class ReadinessGate implements ApplicationListener<ApplicationEvent> {

    private final ApplicationAvailability availability;
    private final ObjectProvider<Programs> programs;
    private final List<String> awaited;
    private final ApplicationEventPublisher publisher;
    /** What this has said. Saying it takes a while, in which others may find that it is time to take it back. */
    private enum Hold {
        NONE,
        SAYING_SO,
        HELD
    }

    private Hold hold = Hold.NONE; // guarded by this

    /**
     * A gate.
     *
     * @param availability created before this, so that it hears of changes before this does
     * @param awaited names of the programs to wait for
     */
    ReadinessGate(
            ApplicationAvailability availability,
            ObjectProvider<Programs> programs,
            List<String> awaited,
            ApplicationEventPublisher publisher) {
        this.availability = availability;
        this.programs = programs;
        this.awaited = awaited;
        this.publisher = publisher;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (event instanceof AvailabilityChangeEvent<?> change
                && change.getState() == ReadinessState.ACCEPTING_TRAFFIC
                && change.getSource() != this) {
            holdUnlessReady();
        } else if (event instanceof ProgramStatusEvent program
                && program.status().state() == ProgramState.READY) {
            releaseIfReady();
        }
    }

    private void holdUnlessReady() {
        synchronized (this) {
            if (isReady()) {
                return;
            }
            hold = Hold.SAYING_SO;
        }
        AvailabilityChangeEvent.publish(publisher, this, ReadinessState.REFUSING_TRAFFIC);
        synchronized (this) {
            hold = Hold.HELD;
        }
        releaseIfReady(); // it may have become ready in between, when nobody else could take it back
    }

    private void releaseIfReady() {
        synchronized (this) {
            if (hold != Hold.HELD || !isReady()) {
                return;
            }
            hold = Hold.NONE;
        }
        if (availability.getReadinessState() == ReadinessState.REFUSING_TRAFFIC) {
            AvailabilityChangeEvent.publish(publisher, this, ReadinessState.ACCEPTING_TRAFFIC);
        }
    }

    private boolean isReady() {
        for (String name : awaited) {
            for (ProgramStatus status : programs.getObject().versions(name)) {
                if (status.state() != ProgramState.READY) {
                    return false;
                }
            }
        }
        return true;
    }
}

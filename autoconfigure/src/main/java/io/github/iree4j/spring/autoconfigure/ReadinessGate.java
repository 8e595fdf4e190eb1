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
 * Keeps the application from accepting traffic while programs are loaded in the background: when the application
 * reports readiness too early, this gate reverts the state to refusing traffic, and to accepting once all programs are
 * ready.
 */
final class ReadinessGate implements ApplicationListener<ApplicationEvent> {

    private final ApplicationAvailability availability;
    private final ObjectProvider<Programs> programs;
    private final List<String> awaited;
    private final ApplicationEventPublisher publisher;
    /**
     * The state published by this gate. Publishing takes a while, during which other threads may find the programs
     * ready.
     */
    private enum Hold {
        NONE,
        SAYING_SO,
        HELD
    }

    private Hold hold = Hold.NONE; // guarded by this

    /**
     * Creates a gate.
     *
     * @param availability created before this gate, to receive events first
     * @param awaited names of the awaited programs
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
        releaseIfReady(); // programs may have become ready in between, when no other thread could release the gate
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

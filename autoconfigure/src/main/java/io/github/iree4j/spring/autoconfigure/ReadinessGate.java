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
 * Decides whether the application accepts traffic: only when the application itself does, as started and as told by
 * operators, all programs loaded in the background have become ready, and the watchdog does not refuse traffic. All
 * other publishers of the readiness state count as the application itself; the last published state holds. Publishes
 * the decision where the decision differs from the state.
 */
final class ReadinessGate implements ApplicationListener<ApplicationEvent> {

    private final ObjectProvider<Programs> programs;
    private final List<String> awaited;
    private final ApplicationEventPublisher publisher;

    // Guarded by this.
    private boolean accepted; // by the application itself
    private boolean loading; // programs in the background; false for good once all are ready
    private boolean refused; // by the watchdog
    private ReadinessState state; // as last published, by anybody
    /** Whether a thread publishes, which also publishes later decisions: other threads may change the conditions meanwhile. */
    private boolean publishing;

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
        this.programs = programs;
        this.awaited = awaited;
        this.publisher = publisher;
        this.state = availability.getReadinessState();
        this.accepted = state == ReadinessState.ACCEPTING_TRAFFIC;
        this.loading = !awaited.isEmpty();
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (event instanceof AvailabilityChangeEvent<?> change
                && change.getState() instanceof ReadinessState other
                && change.getSource() != this) {
            synchronized (this) {
                state = other;
                accepted = other == ReadinessState.ACCEPTING_TRAFFIC;
            }
            publish();
        } else if (event instanceof ProgramStatusEvent program
                && program.status().state() == ProgramState.READY) {
            publish();
        }
    }

    /** Sets whether the watchdog refuses traffic. */
    void refuse(boolean refuse) {
        synchronized (this) {
            refused = refuse;
        }
        publish();
    }

    private void publish() {
        synchronized (this) {
            if (publishing) {
                return;
            }
            publishing = true;
        }
        boolean over = false;
        try {
            while (!over) {
                ReadinessState next;
                synchronized (this) {
                    next = decide();
                    over = next == state;
                    publishing = !over;
                    state = next;
                }
                if (!over) {
                    AvailabilityChangeEvent.publish(publisher, this, next); // without the lock: listeners may wait
                }
            }
        } finally {
            if (!over) {
                synchronized (this) {
                    publishing = false;
                }
            }
        }
    }

    /** Looks at the programs only once the application has started: the registry is created earlier. */
    private ReadinessState decide() {
        loading = loading && !(accepted && isReady());
        return accepted && !loading && !refused ? ReadinessState.ACCEPTING_TRAFFIC : ReadinessState.REFUSING_TRAFFIC;
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

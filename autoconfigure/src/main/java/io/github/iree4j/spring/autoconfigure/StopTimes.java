package io.github.iree4j.spring.autoconfigure;

import java.time.Duration;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.Environment;

/**
 * How stopping divides the time that a phase of it may take, which begins with the first server that stops: calls in
 * flight may end in the first two thirds; those that are cancelled then, threads of servers, devices that are closed, and
 * what remains at the end share the rest.
 *
 * @param serving how long servers may wait for requests
 * @param draining how long calls in flight may continue
 * @param cancelling how long those that are cancelled may take to end, then threads of a server, and calls again once
 *     devices are closed
 * @param closing how long closing the runtime may take
 */
record StopTimes(Duration serving, Duration draining, Duration cancelling, Duration closing) {

    static final String PHASE = "spring.lifecycle.timeout-per-shutdown-phase";
    private static final Duration USUAL = Duration.ofSeconds(30); // Spring Boot's own default
    private static final Duration LONGEST_CANCELLING = Duration.ofSeconds(2);

    static StopTimes of(Environment environment) {
        String configured = environment.getProperty(PHASE);
        return ofPhase(configured == null ? USUAL : DurationStyle.detectAndParse(configured));
    }

    static StopTimes ofPhase(Duration phase) {
        Duration sixteenth = phase.dividedBy(16);
        Duration cancelling = sixteenth.compareTo(LONGEST_CANCELLING) < 0 ? sixteenth : LONGEST_CANCELLING;
        Duration draining = phase.multipliedBy(2).dividedBy(3);
        return new StopTimes(draining.plus(cancelling), draining, cancelling, phase.dividedBy(12));
    }

    /** The shortest phase in which calls in flight may continue for so long. */
    static Duration phaseFor(Duration draining) {
        return draining.multipliedBy(3).plusNanos(1).dividedBy(2);
    }

    /** The same with less time for calls in flight, if that is less. */
    StopTimes within(Duration drainTimeout) {
        return drainTimeout.compareTo(draining) < 0 ? new StopTimes(serving, drainTimeout, cancelling, closing) : this;
    }
}

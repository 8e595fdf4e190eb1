package io.github.iree4j.spring.autoconfigure;

import java.time.Duration;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.Environment;

/**
 * The division of the time of a shutdown phase, beginning with the first stopping server: calls in flight may end in
 * the first two thirds; the rest is shared by then cancelled calls, threads of servers, the closing of devices, and the
 * remaining work at the end.
 *
 * @param serving maximum wait of servers for requests
 * @param draining maximum time for calls in flight to continue
 * @param cancelling time for cancelled calls to end, then for threads of a server, and again for calls once devices are
 *     closed
 * @param closing maximum time for closing the runtime
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

    /** Returns the shortest phase that lets calls in flight continue for the given time. */
    static Duration phaseFor(Duration draining) {
        return draining.multipliedBy(3).plusNanos(1).dividedBy(2);
    }

    /** Returns these times with a shorter time for calls in flight, if the given time is shorter. */
    StopTimes within(Duration drainTimeout) {
        return drainTimeout.compareTo(draining) < 0 ? new StopTimes(serving, drainTimeout, cancelling, closing) : this;
    }
}

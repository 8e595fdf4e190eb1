package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * Observation of the queues of a domain. Without an observation, each reporting place reads a single field and finds
 * null.
 *
 * <p>Safe from any thread.
 */
public final class QueueObservation implements AutoCloseable {
    private final DomainQueues queues;
    private final QueueObserver observer;

    /** Receives operations that have not ended. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * Receives an operation.
         *
         * @param queue the queue
         * @param name the kind of operation
         * @param number the number given by the observer; 0 for an operation executed in parts, each with a number
         * @param observedAt the time of the submission, by the clock of the observer; 0 if not known
         * @param wait the fence waited for, possibly closed by now; null for none
         * @param signal the fence to be signalled, possibly closed by now; null for none
         * @param call the submitting call; null for none
         */
        void open(
                QueueScheduler queue,
                String name,
                long number,
                long observedAt,
                @Nullable Fence wait,
                @Nullable Fence signal,
                @Nullable MemoryHolder call);
    }

    private QueueObservation(DomainQueues queues, QueueObserver observer) {
        this.queues = queues;
        this.observer = observer;
    }

    /**
     * Begins to observe a domain. Operations submitted before are not reported.
     *
     * @param domain the domain
     * @param observer notified of all events from now on
     * @return the observation; the caller closes the observation
     * @throws IreeException FAILED_PRECONDITION when the domain is observed already
     */
    public static QueueObservation begin(SchedulingDomain domain, QueueObserver observer) {
        DomainQueues queues = DomainQueues.of(domain);
        if (!queues.observe(null, observer)) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "the scheduling domain has a recorder already, and can have one; close that first");
        }
        return new QueueObservation(queues, observer);
    }

    /**
     * Lists the submitted operations that have not ended, including deferred calls left behind by closed queues.
     * Operations that are being submitted, issued or ended meanwhile may be listed or not.
     *
     * @param visitor receives each operation once, with no lock held
     */
    public void forEachOpen(Visitor visitor) {
        for (QueueScheduler queue : queues.all()) {
            for (QueueOperation each : queue.open()) {
                visitor.open(queue, each.name(), each.number, each.observedAt(), each.wait, each.signal, each.holder);
            }
            queue.issuedOnes.wholes().forEach(each -> each.visit(visitor));
        }
    }

    /** Ends the observation. Calls in progress on other threads may still arrive. Idempotent. */
    @Override
    public void close() {
        queues.observe(observer, null);
    }
}

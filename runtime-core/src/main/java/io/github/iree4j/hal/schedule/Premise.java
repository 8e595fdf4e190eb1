package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;

/**
 * What an operation relies on in place of a wait whose end the host has seen: created when the operation is decided, and kept
 * until it is complete. A wait for a value that was reached has no premise: a timeline does not go back.
 *
 * <p>With {@code -Diree4j.causal.assert=true} every premise is checked when the operation begins, where the hardware reports
 * that, and when it completes; see {@link QueueScheduler#assertPremises}.
 */
sealed interface Premise {
    /** Why an operation is sure to run after the producer of a promise. All but the last are facts about its stream. */
    enum Basis {
        /** The producer is earlier on the operation's own stream. */
        STREAM_ORDER,
        /** The stream waits for the producer, or for what runs after it, because of an earlier operation; or it has completed. */
        STREAM_FRONTIER,
        /** The stream waits for the producer because of this operation. */
        DEVICE_WAIT,
        /** Another wait of the operation, on one of the bases above, is for an operation that runs after the producer. */
        OTHER_WAIT
    }

    /** Whether the premise holds by now, as far as the host can tell; called when the operation may begin, or is complete. */
    boolean holds(SchedulingDomain domain);

    /**
     * A promise: its maker signals a value at or above the one waited for, and the operation runs after that. It says nothing
     * about who else may signal lower values; see architecture, "a promise is not a fact about lower values".
     *
     * @param semaphore the timeline
     * @param waited the value that the operation waits for
     * @param promised the value that was promised, at or above that
     * @param axis the queue of the operation that promised it
     * @param epoch its epoch
     * @param basis why the operation runs after that epoch
     * @param producer the scheduler of that queue, which may be closed by now; the operation's own scheduler where the promise was found complete
     */
    record Promise(
            TimelineSemaphore semaphore,
            long waited,
            long promised,
            long axis,
            long epoch,
            Basis basis,
            FifoScheduler producer)
            implements Premise {
        @Override
        public boolean holds(SchedulingDomain domain) {
            return semaphore.value() >= promised
                    || semaphore.failure() != null
                    || domain.tracker().completed(axis) >= epoch
                    || domain.tracker().failure(axis) != null
                    || producer.axis != axis
                    || producer.hasPassed(epoch);
        }

        @Override
        public String toString() {
            return "timeline %d at %d, promised %d by epoch %d of '%s' (%s), is at %d"
                    .formatted(semaphore.id(), waited, promised, epoch, Axis.toString(axis), basis, semaphore.value());
        }
    }

    /**
     * Foreign work that promised a value, for which the stream waits. Nothing is known about what precedes it.
     *
     * @param semaphore the timeline
     * @param waited the value that the operation waits for
     * @param primitive the primitive that the stream waits for
     * @param stream the backend that knows whether it has been reached
     */
    record Foreign(TimelineSemaphore semaphore, long waited, Object primitive, FifoBackend stream) implements Premise {
        @Override
        public boolean holds(SchedulingDomain domain) {
            return semaphore.value() >= waited || semaphore.failure() != null || stream.hasPassedExternal(primitive);
        }

        @Override
        public String toString() {
            return "timeline %d at %d, promised by foreign work, is at %d"
                    .formatted(semaphore.id(), waited, semaphore.value());
        }
    }

    /**
     * A frontier that the operation imported: everything that it names precedes the operation. Created only where premises are
     * asserted, since it is part of the operation's own frontier.
     *
     * @param source the origin of the frontier
     * @param frontier what must be complete when the operation begins
     */
    record Imported(String source, Frontier frontier) implements Premise {
        static Imported of(TimelineSemaphore semaphore, long waited, Frontier frontier) {
            return new Imported("timeline %d at %d".formatted(semaphore.id(), waited), frontier);
        }

        @Override
        public boolean holds(SchedulingDomain domain) {
            return Premise.isPassed(frontier, domain);
        }

        @Override
        public String toString() {
            return "%s brought %s, which is not over".formatted(source, frontier);
        }
    }

    /**
     * Memory that others used before: they are complete, or the operation runs after them.
     *
     * @param death what must complete before the memory is used
     */
    record Memory(Frontier death) implements Premise {
        @Override
        public boolean holds(SchedulingDomain domain) {
            return domain.tracker().isComplete(death) || Premise.isPassed(death, domain);
        }

        @Override
        public String toString() {
            return "memory that is free after " + death;
        }
    }

    /**
     * Whether the hardware has completed everything that a frontier names, as far as a queue is left to ask. Where none is, the answer is yes:
     * that hides a broken premise from a check, and decides nothing.
     */
    private static boolean isPassed(Frontier frontier, SchedulingDomain domain) {
        for (int i = 0; i < frontier.size(); i++) {
            long axis = frontier.axis(i);
            long epoch = frontier.epoch(i);
            QueueScheduler queue = DomainQueues.of(domain).queue(axis);
            if (queue != null
                    && domain.tracker().completed(axis) < epoch
                    && domain.tracker().failure(axis) == null
                    && !(queue instanceof FifoScheduler stream && stream.hasPassed(epoch))) {
                return false;
            }
        }
        return true;
    }
}

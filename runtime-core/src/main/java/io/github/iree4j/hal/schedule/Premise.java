package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;

/**
 * A condition that an operation relies on in place of a wait whose end the host has seen: created when the operation is
 * decided, and kept until completion. A wait for a reached value has no premise: a timeline does not go back.
 *
 * <p>With {@code -Diree4j.causal.assert=true} every premise is checked when the operation begins, where the hardware
 * reports beginnings, and on completion; see {@link QueueScheduler#assertPremises}.
 */
sealed interface Premise {
    /** Reason why an operation is sure to run after the producer of a promise. All but the last are facts about the operation's stream. */
    enum Basis {
        /** The producer is earlier on the operation's own stream. */
        STREAM_ORDER,
        /** The stream waits for the producer, or for work behind the producer, because of an earlier operation; or the producer has completed. */
        STREAM_FRONTIER,
        /** The stream waits for the producer because of this operation. */
        DEVICE_WAIT,
        /** Another wait of the operation, on one of the bases above, is for an operation that runs after the producer. */
        OTHER_WAIT
    }

    /** Returns whether the premise holds by now, as far as the host can tell; called when the operation may begin, or is complete. */
    boolean holds(SchedulingDomain domain);

    /**
     * A promise: the promising operation signals a value at or above the awaited value, and this operation runs
     * afterwards. The promise carries no information about other signals of lower values; see architecture, "a promise
     * is not a fact about lower values".
     *
     * @param semaphore the timeline
     * @param waited the value awaited by the operation
     * @param promised the promised value, at or above {@code waited}
     * @param axis the queue of the promising operation
     * @param epoch the epoch of the promising operation
     * @param basis the reason why the operation runs after this epoch
     * @param producer the scheduler of the promising queue, possibly closed by now; the operation's own scheduler where
     *     the promise was found complete
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
     * Foreign work that promised a value and that the stream waits for. The predecessors of foreign work are unknown.
     *
     * @param semaphore the timeline
     * @param waited the value awaited by the operation
     * @param primitive the primitive awaited by the stream
     * @param stream the backend that knows whether the primitive has been reached
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
     * A frontier imported by the operation: everything named by the frontier precedes the operation. Created only where
     * premises are asserted, since the import is part of the operation's own frontier.
     *
     * @param source the origin of the frontier
     * @param frontier work to be complete when the operation begins
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
     * Memory with earlier users: these are complete, or the operation runs after them.
     *
     * @param death work to be complete before the memory is used
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
     * Returns whether the hardware has completed everything named by a frontier, as far as the queues still exist. For
     * an axis without a queue the answer is yes: this hides a broken premise from a check, and decides nothing.
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

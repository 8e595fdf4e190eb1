package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks, with {@code -Diree4j.causal.assert=true}, whether the premises of an operation hold. */
final class PremiseCheck {
    /** Whether premises are checked when operations begin and complete. */
    static final boolean ASSERTED = Boolean.getBoolean("iree4j.causal.assert");

    private static final Logger LOG = LoggerFactory.getLogger(QueueScheduler.class);

    private PremiseCheck() {}

    /** Fails an operation of a stream that begins or completes before its premises hold, and then returns false. */
    static boolean ofStream(QueueScheduler queue, QueueOperation operation) {
        List<Premise> premises = operation.premises;
        if (premises == null || operation.failure() != null || queue.lost != null) {
            return true;
        }
        for (Premise premise : premises) {
            if (!premise.holds(queue.domain)) {
                fail(queue, operation, premise.toString());
                return false;
            }
        }
        return true;
    }

    /** Fails an operation of an unordered queue that begins too early: the only premise is that the values were reached. */
    static boolean ofWorkers(QueueScheduler queue, QueueOperation operation) {
        if (operation.failure() != null || queue.lost != null) {
            return true;
        }
        String broken = unreached(operation.wait);
        if (broken == null && operation.imported != null) {
            Premise imported = new Premise.Imported("what it waited for", operation.imported.snapshot());
            broken = imported.holds(queue.domain) ? null : imported.toString();
        }
        if (broken != null) {
            fail(queue, operation, broken);
        }
        return broken == null;
    }

    private static @Nullable String unreached(@Nullable Fence wait) {
        for (int i = 0; wait != null && i < wait.size(); i++) {
            if (wait.semaphore(i).value() < wait.value(i)) { // PREM-2
                return "timeline %d is at %d, waited for at %d"
                        .formatted(wait.semaphore(i).id(), wait.semaphore(i).value(), wait.value(i));
            }
        }
        return null;
    }

    private static void fail(QueueScheduler queue, QueueOperation operation, String broken) {
        IreeException failure = IreeException.of(
                StatusCode.INTERNAL,
                "%s at epoch %d of '%s' runs although what it rests on does not hold: %s"
                        .formatted(operation.name(), operation.epoch(), Axis.toString(queue.axis), broken));
        LOG.error("broken premise", failure);
        operation.fail(failure);
    }
}

package io.github.iree4j.lab;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.schedule.QueueObserver;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.WaitDecision;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Notes the scheduler's first decision about each wait of the operations of a run: of the operation itself or of the
 * allocation before the operation, which has the same waits, the decision of more cost. Confined to a single thread.
 */
final class WaitNotes implements QueueObserver {
    private final Map<TimelineSemaphore, String> names;
    private long submitted;

    /** The operation being submitted, perhaps with allocations; null for none. */
    LabRun.@Nullable Work submitting;

    private @Nullable QueueOperation undecided;
    private @Nullable Fence wait; // of the undecided operation

    /**
     * Creates notes.
     *
     * @param names the timelines of the scenario, compared by identity; waits for other timelines are waits for memory
     */
    WaitNotes(Map<TimelineSemaphore, String> names) {
        this.names = names;
    }

    @Override
    public long submitted(
            QueueScheduler queue, QueueOperation operation, @Nullable Fence wait, @Nullable Fence signal) {
        this.undecided = operation;
        this.wait = wait;
        return ++submitted;
    }

    @Override
    public void decided(QueueOperation operation, Decisions decisions) {
        LabRun.Work work = submitting;
        Fence points = wait;
        if (work == null || points == null || !operation.equals(undecided)) {
            return; // a later decision, of an operation that was held back
        }
        undecided = null;
        for (int i = 0; i < decisions.size(); i++) {
            WaitDecision decision = decisions.decision(i);
            if (operation.equals(work)) {
                work.decided.add(decision);
            }
            String name = names.get(points.semaphore(i));
            if (name != null) {
                work.waits.merge(name, decision, (one, other) -> one.compareTo(other) >= 0 ? one : other);
            }
        }
    }
}

package io.github.iree4j.lab;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.schedule.QueueObserver;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Notes the scheduler's decisions about the waits of the operations of a run: of the operation itself and of the
 * allocations before the operation. Also notes the order of the signals. Confined to a single thread.
 *
 * <p>The first decision counts, unless the decision is to wait on the device and the operation is held back by
 * something else: no hardware has a wait by then, and the next decision counts.
 */
final class WaitNotes implements QueueObserver {
    /** The decisions about the waits of an operation, or of an allocation before the operation. */
    static final class Noted {
        final boolean isOfMemory;
        private final List<WaitDecision> decisions = new ArrayList<>();
        private final List<@Nullable String> timelines = new ArrayList<>(); // of the scenario, by wait

        private Noted(boolean isOfMemory) {
            this.isOfMemory = isOfMemory;
        }

        private void replaceDeviceWaits(Decisions now) {
            for (int i = 0; i < now.size(); i++) {
                if (decisions.get(i) == WaitDecision.DEVICE_WAIT) {
                    decisions.set(i, now.decision(i));
                }
            }
        }

        List<WaitDecision> decisions() {
            return decisions;
        }

        /** Adds the decisions by timeline of the scenario; of several about one timeline, the decision of more cost stays. */
        void addTo(Map<String, WaitDecision> waits) {
            for (int i = 0; i < timelines.size(); i++) {
                String timeline = timelines.get(i);
                if (timeline != null) {
                    waits.merge(timeline, decisions.get(i), (one, other) -> one.compareTo(other) >= 0 ? one : other);
                }
            }
        }
    }

    private final Map<TimelineSemaphore, String> names;
    private final Map<QueueOperation, Noted> noted = new IdentityHashMap<>();
    private long submissions;
    private long ends;

    /** The operation being submitted, perhaps with allocations; null for none. */
    LabRun.@Nullable Work submitting;

    /** The operation submitted last; null for none. */
    @Nullable
    QueueOperation submitted;

    private @Nullable Fence wait; // of this operation

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
        this.submitted = operation;
        this.wait = wait;
        return ++submissions;
    }

    @Override
    public void over(QueueOperation operation, @Nullable IreeException failure, List<Fence.Entry> refused) {
        if (operation instanceof LabRun.Work work) {
            work.signalled = ++ends;
        }
    }

    @Override
    public void decided(QueueOperation operation, Decisions decisions) {
        LabRun.Work work = submitting;
        Fence points = wait;
        Noted before = noted.get(operation);
        if (before != null) {
            before.replaceDeviceWaits(decisions);
        } else if (work != null && points != null && operation.equals(submitted)) {
            Noted first = new Noted(!operation.equals(work));
            for (int i = 0; i < decisions.size(); i++) {
                first.decisions.add(decisions.decision(i));
                first.timelines.add(names.get(points.semaphore(i)));
            }
            noted.put(operation, first);
            work.noted.add(first);
        }
    }
}

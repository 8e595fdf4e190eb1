package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.schedule.FifoBackend;
import io.github.iree4j.hal.schedule.Issue;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.WaitRules;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Runs one operation after the other. Other streams wait for epochs of this stream, and this stream waits for epochs of
 * other streams. A point is created at the first wait of another stream for the epoch.
 */
final class VirtualStream extends VirtualQueue implements FifoBackend {
    private final Object directGroup;
    private final WaitRules rules;
    private final TreeMap<Long, VirtualEvent> points =
            new TreeMap<>(); // by epoch, not passed; guarded by the clock's lock
    private long passed; // everything up to this epoch is complete; guarded by the clock's lock

    VirtualStream(
            VirtualClock clock,
            Object directGroup,
            WaitRules rules,
            int index,
            @Nullable VirtualLanes shared,
            VirtualScript script) {
        super(clock, index, 1, shared, script);
        this.directGroup = directGroup;
        this.rules = rules;
    }

    private record Wait(VirtualEvent event) implements Entry {
        @Override
        public boolean pass(Runnable proceed) {
            return event.isFiredOrThen(proceed);
        }
    }

    @Override
    public boolean issue(Issue next) {
        List<Wait> waits = new ArrayList<>(next.waits().size());
        for (Issue.Wait each : next.waits()) {
            VirtualEvent event = each.producer() instanceof VirtualStream other
                    ? other.point(each.epoch())
                    : (VirtualEvent) each.primitive();
            if (event != null) {
                waits.add(new Wait(event));
            }
        }
        enqueue(next.operation(), waits, next.isAwaited());
        return true;
    }

    @Override
    public WaitRules waitRules() {
        return rules;
    }

    @Override
    public void submit() {
        reportLast();
    }

    /** Returns the event fired when an epoch is passed; null for a passed epoch. */
    private @Nullable VirtualEvent point(long epoch) {
        synchronized (clock) {
            return epoch <= passed ? null : points.computeIfAbsent(epoch, unused -> VirtualEvent.create(clock));
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // groups compare by identity
    public boolean canWaitFor(FifoBackend producer, long epoch) {
        return producer instanceof VirtualStream other && other.clock == clock && other.directGroup == directGroup;
    }

    @Override
    public boolean canWaitForExternal(Object primitive) {
        return primitive instanceof VirtualEvent event && event.clock() == clock;
    }

    @Override
    public boolean hasPassedExternal(Object primitive) {
        return ((VirtualEvent) primitive).isFired();
    }

    @Override
    public boolean hasPassed(long epoch) {
        synchronized (clock) {
            return epoch <= passed;
        }
    }

    @Override
    void passed(QueueOperation operation) {
        passed(operation.epoch());
    }

    private void passed(long epoch) {
        passed = Math.max(passed, epoch);
        while (!points.isEmpty() && points.firstKey() <= passed) {
            points.pollFirstEntry().getValue().fire();
        }
    }

    @Override
    void reportPassed(QueueScheduler owner) {
        long over;
        synchronized (clock) {
            over = passed;
        }
        owner.completedUpTo(over);
    }

    @Override
    void report(QueueScheduler owner, QueueOperation operation, @Nullable IreeException outcome) {
        if (outcome != null) {
            owner.completed(operation, outcome);
        }
        owner.completedUpTo(operation.epoch()); // includes earlier unreported operations
    }

    @Override
    Entry placeOf(QueueOperation operation) {
        long epoch = operation.epoch();
        return proceed -> {
            passed(epoch);
            return true;
        };
    }
}

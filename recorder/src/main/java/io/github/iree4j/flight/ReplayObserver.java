package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.flight.ReplayOrder.Action;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.schedule.QueueObserver;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Notes the first decisions about each operation of a replay, and performs the actions of the application's callbacks
 * between two events: as the events happen. Callbacks are held back meanwhile. Confined to one thread.
 */
final class ReplayObserver implements QueueObserver {
    private final CallbackOrder callbacks;
    private final Consumer<Action> perform;
    private final Set<Long> happened = new HashSet<>(); // sequence numbers of the recorded events
    // signals to be given, each after an event
    private final List<CallbackOrder.Signal> open = new ArrayList<>();
    private long numbers;

    ReplayObserver(CallbackOrder callbacks, Consumer<Action> perform) {
        this.callbacks = callbacks;
        this.perform = perform;
    }

    /** Gives due signals before an event takes effect. */
    private void before(@Nullable FlightEvent event) {
        give(event);
        if (event != null) {
            happened.add(event.sequence());
        }
    }

    private void give(@Nullable FlightEvent next) {
        if (next != null) {
            open.addAll(callbacks.signalsFrom(next.sequence()));
        }
        giveSignals();
    }

    private void giveSignals() {
        open.removeIf(each -> {
            boolean now = each.after() == 0 || happened.contains(each.after());
            if (now) {
                perform.accept(each.action());
            }
            return now;
        });
    }

    private static @Nullable RecordedOperation recorded(QueueOperation operation) {
        return operation instanceof StandIn standIn ? standIn.recorded() : null;
    }

    @Override
    public long submitted(
            QueueScheduler queue, QueueOperation operation, @Nullable Fence wait, @Nullable Fence signal) {
        return ++numbers;
    }

    @Override
    public void decided(QueueOperation operation, Decisions decisions) {
        List<WaitDecision> all = new ArrayList<>();
        for (int i = 0; i < decisions.size(); i++) {
            all.add(decisions.decision(i));
        }
        if (operation instanceof StandIn standIn) {
            int index = standIn.decided(all);
            List<FlightEvent.Decided> known = standIn.recorded().decided;
            before(index < known.size() ? known.get(index) : null);
        }
    }

    @Override
    public void waitOver(QueueOperation operation, int index) {
        RecordedOperation recorded = recorded(operation);
        if (recorded == null) {
            return;
        }
        for (FlightEvent.WaitOver each : recorded.waitsOver) {
            if (each.index() == index && !happened.contains(each.sequence())) {
                before(each);
                submitBefore(each);
                return;
            }
        }
    }

    private void submitBefore(FlightEvent event) {
        for (Action submission : callbacks.submissionsBefore(event.sequence())) {
            perform.accept(submission);
            giveSignals();
        }
    }

    @Override
    public void ending(QueueOperation operation) {
        RecordedOperation recorded = recorded(operation);
        if (recorded != null && recorded.over != null) {
            give(recorded.over); // the operation ends after signalling
            submitBefore(recorded.over);
        }
    }

    @Override
    public void issued(QueueOperation operation, @Nullable Reservation memory) {
        RecordedOperation recorded = recorded(operation);
        before(recorded == null ? null : recorded.issued);
    }

    @Override
    public void completed(QueueOperation operation) {
        RecordedOperation recorded = recorded(operation);
        before(recorded == null ? null : recorded.completed);
    }

    @Override
    public void over(QueueOperation operation, @Nullable IreeException failure, List<Fence.Entry> refused) {
        RecordedOperation recorded = recorded(operation);
        if (recorded != null && recorded.over != null) {
            happened.add(recorded.over.sequence());
        }
        giveSignals();
    }
}

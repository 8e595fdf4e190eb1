package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.UnorderedBackend;
import io.github.iree4j.status.IreeException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs a number of operations concurrently, started in the order of arrival. */
final class VirtualWorkers extends VirtualQueue implements UnorderedBackend {
    VirtualWorkers(VirtualClock clock, int index, int lanes, VirtualScript script) {
        super(clock, index, lanes, null, script);
    }

    @Override
    public void issue(QueueOperation operation) {
        enqueue(operation, List.of(), true);
    }

    @Override
    void reportPassed(QueueScheduler owner) {}

    @Override
    void report(QueueScheduler owner, QueueOperation operation, @Nullable IreeException outcome) {
        owner.completed(operation, outcome);
    }

    @Override
    Entry placeOf(QueueOperation operation) {
        return proceed -> true;
    }

    @Override
    void passed(QueueOperation operation) {}
}

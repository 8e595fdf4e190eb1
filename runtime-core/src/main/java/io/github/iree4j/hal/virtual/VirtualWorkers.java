package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.QueueOperation;
import io.github.iree4j.hal.UnorderedBackend;
import java.util.List;

/** Runs so many operations at once, in the order in which it gets them. */
final class VirtualWorkers extends VirtualQueue implements UnorderedBackend {
    VirtualWorkers(VirtualClock clock, int index, int lanes, VirtualScript script) {
        super(clock, index, lanes, script);
    }

    @Override
    public void issue(QueueOperation operation) {
        enqueue(operation, List.of());
    }

    @Override
    Entry placeOf(QueueOperation operation) {
        return proceed -> true;
    }

    @Override
    void passed(QueueOperation operation) {}
}

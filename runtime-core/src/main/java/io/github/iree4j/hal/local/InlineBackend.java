package io.github.iree4j.hal.local;

import io.github.iree4j.hal.QueueOperation;
import io.github.iree4j.hal.QueueScheduler;
import io.github.iree4j.hal.UnorderedBackend;
import org.jspecify.annotations.Nullable;

/** Runs each operation on the thread that issues it. */
final class InlineBackend implements UnorderedBackend {
    private @Nullable QueueScheduler scheduler; // set once, before anything is issued

    void connect(QueueScheduler owner) {
        scheduler = owner;
    }

    @Override
    public void issue(QueueOperation operation) {
        if (scheduler != null) {
            scheduler.completed(operation, ((HostOperation) operation).execute());
        }
    }

    @Override
    public boolean completesInline() {
        return true;
    }
}

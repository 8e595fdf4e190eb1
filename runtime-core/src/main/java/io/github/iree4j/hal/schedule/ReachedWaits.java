package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SignalRecord;
import org.jspecify.annotations.Nullable;

/** Decisions of an unordered queue, as reported to an observer: each value is reached, or waited for. */
final class ReachedWaits implements QueueObserver.Decisions {
    private final Fence wait;
    private final SignalRecord record = new SignalRecord();

    ReachedWaits(Fence wait) {
        this.wait = wait;
    }

    @Override
    public int size() {
        return wait.size();
    }

    @Override
    public WaitDecision decision(int index) {
        return wait.semaphore(index).value() >= wait.value(index)
                ? WaitDecision.REACHED
                : WaitDecision.DEFERRED_UNREACHED;
    }

    @Override
    public @Nullable SignalRecord found(int index) {
        return wait.semaphore(index).lookup(wait.value(index), record) ? record : null;
    }
}

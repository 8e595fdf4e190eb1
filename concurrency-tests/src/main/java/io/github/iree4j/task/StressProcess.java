package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * A process counting callbacks; its drain returns a given result. Counters are plain: the claims are about exclusive
 * access to the callbacks.
 */
class StressProcess extends TaskProcess {
    DrainResult result = DrainResult.IDLE;
    int drains;
    int completions;
    int releases;
    int work;
    int drained;

    StressProcess(ProcessOptions options) {
        super(options);
    }

    static StressProcess slotted() {
        return new StressProcess(ProcessOptions.named("p").placed(Placement.COMPUTE));
    }

    static StressProcess listed() {
        return new StressProcess(ProcessOptions.named("p"));
    }

    @Override
    protected DrainResult drain(WorkerContext worker) {
        drains++;
        drained = work;
        return result;
    }

    @Override
    protected void completed(@Nullable IreeException failure) {
        completions++;
    }

    @Override
    protected void released() {
        releases++;
    }
}

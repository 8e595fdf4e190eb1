package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicInteger;

/** An operation counting callbacks and signalling a timeline. */
final class CountedOperation extends QueueOperation {
    final TimelineSemaphore done = TimelineSemaphore.create(0);
    final Fence signal = Fence.at(done, 1);
    final AtomicInteger issued = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger holds = new AtomicInteger();
    private final AtomicInteger retained = new AtomicInteger();

    CountedOperation() {
        super("operation under test");
    }

    @Override
    protected void retain() {
        retained.incrementAndGet();
        holds.incrementAndGet();
    }

    @Override
    protected void release() {
        holds.decrementAndGet();
    }

    @Override
    protected void failed(IreeException cause) {
        failures.incrementAndGet();
    }

    /** Returns "ran", or whether the operation had run and the code that failed the signals, or the broken rule. */
    String outcome() {
        int runs = issued.get();
        IreeException cause = done.failure();
        boolean refused = retained.get() == 0; // before the operation was made, or before being held back or issued
        if (runs > 1 || failures.get() > 1 || retained.get() > 1 || holds.get() != 0) {
            return "broken: issued " + runs + ", failed " + failures + ", retained " + retained + ", still held "
                    + holds;
        }
        if (cause == null) {
            return runs == 1 && done.value() == 1 && failures.get() == 0 ? "ran" : "lost: issued " + runs;
        }
        if (done.value() != 0 || failures.get() != 1 && !refused) {
            return "broken: value " + done.value() + ", failed " + failures + " times with " + cause;
        }
        return (runs == 1 ? "ran but failed: " : "did not run: ") + cause.code();
    }
}

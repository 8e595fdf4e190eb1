package io.github.iree4j.async;

import io.github.iree4j.Effort;
import io.github.iree4j.Lincheck;
import io.github.iree4j.LincheckOptions;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * SEM-2, SEM-4, SEM-5, SEM-7: a timeline is linearizable, lock-free lookups included, and in the end the waiter was called, cancelled or is
 * not due. Model checking assumes sequential consistency; the jcstress claims cover memory ordering.
 */
@Lincheck
@Param(name = "value", gen = IntGen.class, conf = "1:3")
public class TimelineSemaphoreLincheckTest {
    private static final long AXIS = Axis.of(1, 0, CausalDomain.QUEUE, 0);

    private final TimelineSemaphore timeline =
            TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withHistoryCapacity(2));
    private final AtomicInteger called = new AtomicInteger();
    private final Cancellation waiter = timeline.whenReached(2, (value, failure) -> called.incrementAndGet());
    private volatile boolean cancelled;

    /** Signals as an operation; returns whether the signal was accepted. */
    @Operation
    public boolean signal(@Param(name = "value") int value) {
        try {
            timeline.signal(value, Frontier.producedBy(AXIS, value));
            return true;
        } catch (IreeException refused) {
            return false;
        }
    }

    /** Signals as external code; returns whether the signal was accepted. */
    @Operation
    public boolean signalExternal(@Param(name = "value") int value) {
        try {
            timeline.signalExternal(value);
            return true;
        } catch (IreeException refused) {
            return false;
        }
    }

    @Operation
    public boolean promise(@Param(name = "value") int value) {
        return timeline.promise(value, Frontier.producedBy(AXIS, value));
    }

    @Operation
    public void fail() {
        timeline.fail(IreeException.of(StatusCode.ABORTED, "device is lost"));
    }

    @Operation
    public long value() {
        return timeline.value();
    }

    @Operation
    public boolean isReached(@Param(name = "value") int value) {
        return timeline.isReached(value);
    }

    /** The knowledge about a value, as text. */
    @Operation
    public String lookup(@Param(name = "value") int value) {
        SignalRecord found = new SignalRecord();
        return timeline.lookup(value, found) ? found.toString() : "nothing";
    }

    @Operation
    public boolean isTainted(@Param(name = "value") int value) {
        return timeline.isTainted(value);
    }

    @Operation
    public boolean cancel() {
        boolean now = waiter.cancel();
        if (now) {
            cancelled = true;
        }
        return now;
    }

    /** The waiter is not lost or called twice. */
    @Validate
    public void isCalledOrCancelledOrHasNothingToBeCalledFor() {
        boolean due = timeline.value() >= 2 || timeline.failure() != null;
        boolean right = cancelled ? called.get() == 0 : called.get() == (due ? 1 : 0);
        if (!right) {
            throw new IllegalStateException("called " + called + " times, cancelled " + cancelled + ", due " + due);
        }
    }

    @Test
    void timelinesAreLinearizableUnderModelChecking() {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(2, 30))
                .invocationsPerIteration(1_000)
                .threads(2)
                .actorsPerThread(3)
                .check(TimelineSemaphoreLincheckTest.class);
    }

    @Test
    void timelinesAreLinearizableUnderStress() {
        LincheckOptions.stress()
                .iterations(Effort.rounds(2, 20))
                .invocationsPerIteration(1_000)
                .threads(3)
                .actorsPerThread(3)
                .check(TimelineSemaphoreLincheckTest.class);
    }
}

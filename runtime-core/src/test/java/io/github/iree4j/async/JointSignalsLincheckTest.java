package io.github.iree4j.async;

import io.github.iree4j.Effort;
import io.github.iree4j.Lincheck;
import io.github.iree4j.LincheckOptions;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/** SEM-8: counting the signals of a value, promising the value and signalling the value are linearizable. */
@Lincheck
@Param(name = "value", gen = IntGen.class, conf = "1:2")
public class JointSignalsLincheckTest {
    private static final long AXIS = Axis.of(1, 0, CausalDomain.QUEUE, 0);

    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final AtomicInteger called = new AtomicInteger();

    /** A waiter waits for the first value. */
    public JointSignalsLincheckTest() {
        timeline.whenReached(1, (value, failure) -> called.incrementAndGet());
    }

    /** Returns whether the signal was accepted. */
    @Operation
    public boolean signal(@Param(name = "value") int value) {
        return accepted(() -> timeline.signal(value));
    }

    /** Returns whether the call was in time. */
    @Operation
    public boolean addSignaller(@Param(name = "value") int value) {
        return accepted(() -> timeline.addSignaller(value));
    }

    /** Returns whether the call was in time. */
    @Operation
    public boolean expectTwo(@Param(name = "value") int value) {
        return accepted(() -> timeline.expectSignals(value, 2));
    }

    @Operation
    public boolean promise(@Param(name = "value") int value) {
        return timeline.promise(value, Frontier.producedBy(AXIS, value));
    }

    @Operation
    public long value() {
        return timeline.value();
    }

    private static boolean accepted(Runnable action) {
        try {
            action.run();
            return true;
        } catch (IreeException refused) {
            return false;
        }
    }

    /** Called once the value is reached, and once only. */
    @Validate
    public void isCalledOnceIfReached() {
        if (called.get() != (timeline.value() >= 1 ? 1 : 0)) {
            throw new IllegalStateException("called " + called + " times at " + timeline.value());
        }
    }

    @Test
    void jointSignalsAreLinearizableUnderModelChecking() {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(2, 30))
                .invocationsPerIteration(1_000)
                .threads(2)
                .actorsPerThread(3)
                .check(JointSignalsLincheckTest.class);
    }

    @Test
    void jointSignalsAreLinearizableUnderStress() {
        LincheckOptions.stress()
                .iterations(Effort.rounds(2, 10))
                .invocationsPerIteration(1_000)
                .threads(3)
                .actorsPerThread(3)
                .check(JointSignalsLincheckTest.class);
    }
}

package io.github.iree4j.async;

import io.github.iree4j.Effort;
import io.github.iree4j.Lincheck;
import io.github.iree4j.LincheckOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * FENCE-3: the signal, failure or count of a fence of two points is atomic, also with another fence of the same points
 * in the other order.
 */
@Lincheck
@Param(name = "value", gen = IntGen.class, conf = "1:3")
public class FenceEventLincheckTest {
    private final TimelineSemaphore left = TimelineSemaphore.create(0);
    private final TimelineSemaphore right = TimelineSemaphore.create(0);

    private Fence both(long value) {
        return Fence.of(List.of(new Fence.Entry(left, value), new Fence.Entry(right, value)));
    }

    private Fence swapped(long value) {
        return Fence.of(List.of(new Fence.Entry(right, value), new Fence.Entry(left, value)));
    }

    /** Returns whether both points took the signal. */
    @Operation
    public boolean signalBoth(@Param(name = "value") int value) {
        try (Fence fence = both(value)) {
            fence.signal();
            return true;
        } catch (IreeException refused) {
            return false;
        }
    }

    /** Returns whether both points take another signaller. */
    @Operation
    public boolean joinBoth(@Param(name = "value") int value) {
        try (Fence fence = both(value)) {
            fence.addSignaller();
            return true;
        } catch (IreeException refused) {
            return false;
        }
    }

    /** Fails the refusing timelines. */
    @Operation
    public void signalSwappedOrFail(@Param(name = "value") int value) {
        try (Fence fence = swapped(value)) {
            fence.signalOrFail();
        }
    }

    /** Returns whether the signal was taken. */
    @Operation
    public boolean signalRight(@Param(name = "value") int value) {
        try {
            right.signal(value);
            return true;
        } catch (IreeException refused) {
            return false;
        }
    }

    @Operation
    public void failBoth() {
        try (Fence fence = both(4)) {
            fence.fail(IreeException.of(StatusCode.ABORTED, "device is lost"));
        }
    }

    @Operation
    public long left() {
        return left.value();
    }

    @Operation
    public long right() {
        return right.value();
    }

    @Operation
    public boolean leftFailed() {
        return left.failure() != null;
    }

    @Operation
    public boolean rightIsReached(@Param(name = "value") int value) {
        return right.isReached(value);
    }

    @Test
    void fencesAreAtomicUnderModelChecking() {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(2, 30))
                .invocationsPerIteration(1_000)
                .threads(2)
                .actorsPerThread(3)
                .check(FenceEventLincheckTest.class);
    }

    @Test
    void fencesAreAtomicUnderStress() {
        LincheckOptions.stress()
                .iterations(Effort.rounds(2, 10))
                .invocationsPerIteration(1_000)
                .threads(3)
                .actorsPerThread(3)
                .check(FenceEventLincheckTest.class);
    }
}

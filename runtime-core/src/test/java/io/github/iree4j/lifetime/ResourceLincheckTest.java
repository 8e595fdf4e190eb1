package io.github.iree4j.lifetime;

import io.github.iree4j.Effort;
import io.github.iree4j.Lincheck;
import io.github.iree4j.LincheckOptions;
import io.github.iree4j.status.IreeException;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/**
 * LIFE-1: counting is linearizable. Model checking assumes sequential consistency; the jcstress claim covers memory ordering.
 */
@Lincheck
public class ResourceLincheckTest {
    private static final class Held extends Resource {
        @Override
        protected void destroy() {}
    }

    private final Held held = new Held();

    /** Returns whether a reference was added. */
    @Operation
    public boolean retain() {
        try {
            held.retain();
            return true;
        } catch (IreeException gone) {
            return false;
        }
    }

    /** Returns whether there was a reference to release. */
    @Operation
    public boolean release() {
        try {
            held.release();
            return true;
        } catch (IreeException tooOften) {
            return false;
        }
    }

    @Operation
    public void close() {
        held.close();
    }

    @Operation
    public boolean isLive() {
        return held.isLive();
    }

    @Test
    void countingIsLinearizableUnderModelChecking() {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(2, 30))
                .invocationsPerIteration(1_000)
                .threads(2)
                .actorsPerThread(3)
                .check(ResourceLincheckTest.class);
    }

    @Test
    void countingIsLinearizableUnderStress() {
        LincheckOptions.stress()
                .iterations(Effort.rounds(2, 10))
                .invocationsPerIteration(1_000)
                .threads(2)
                .actorsPerThread(3)
                .check(ResourceLincheckTest.class);
    }
}

package io.github.iree4j.task;

import io.github.iree4j.Effort;
import io.github.iree4j.Lincheck;
import io.github.iree4j.LincheckOptions;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/** TASK-10: reserving and freeing slots is linearizable and non-blocking. */
@Lincheck
@Param(name = "slot", gen = IntGen.class, conf = "0:2")
public class ComputeSlotsLincheckTest {
    private final ComputeSlots slots = new ComputeSlots(3);

    @Operation
    public int reserve() {
        return slots.reserve();
    }

    @Operation
    public void empty(@Param(name = "slot") int slot) {
        slots.empty(slot);
    }

    @Operation
    public long taken() {
        return slots.takenVolatile();
    }

    @Test
    void slotsAreASetUnderModelChecking() {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(2, 12))
                .invocationsPerIteration(500)
                .threads(2)
                .actorsPerThread(4)
                .checkObstructionFreedom(true)
                .check(ComputeSlotsLincheckTest.class);
    }

    @Test
    void slotsAreASetUnderStress() {
        LincheckOptions.stress()
                .iterations(Effort.rounds(2, 6))
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(4)
                .check(ComputeSlotsLincheckTest.class);
    }
}

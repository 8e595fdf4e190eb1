package io.github.iree4j.hal.local;

import io.github.iree4j.Effort;
import io.github.iree4j.Lincheck;
import io.github.iree4j.LincheckOptions;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jetbrains.lincheck.datastructures.verifier.EpsilonVerifier;
import org.junit.jupiter.api.Test;

/**
 * RING-2: everything accepted from several threads by an often full ring is taken once by several others, and no thread
 * waits for another.
 *
 * <p>The ring is not a linearizable queue: operations behind an unfinished addition are not visible yet, and a place
 * not yet emptied is not free. So results are not compared with a queue's; the operations accepted are compared with
 * the operations taken.
 */
@Lincheck
@Param(name = "number", gen = IntGen.class, conf = "0:9")
public class CommandRingLincheckTest {
    private final CommandRing ring = new CommandRing(2);
    private final AtomicIntegerArray inside = new AtomicIntegerArray(10); // of each number, accepted less taken

    @Operation
    public boolean offer(@Param(name = "number") int number) {
        if (!ring.offer(new NumberedOperation(number))) {
            return false;
        }
        inside.incrementAndGet(number);
        return true;
    }

    @Operation
    public String poll() {
        CommandOperation operation = ring.poll();
        if (operation instanceof NumberedOperation numbered) {
            inside.decrementAndGet(numbered.number);
        }
        return NumberedOperation.numberOf(operation);
    }

    /** Takes the rest, after the end of all threads. */
    @Validate
    public void acceptedWorkIsTakenOnce() {
        while (ring.poll() instanceof NumberedOperation numbered) {
            inside.decrementAndGet(numbered.number);
        }
        for (int i = 0; i < inside.length(); i++) {
            if (inside.get(i) != 0) {
                throw new IllegalStateException("of %d, %d more accepted than taken".formatted(i, inside.get(i)));
            }
        }
    }

    @Test
    void acceptedIsTakenOnceUnderModelChecking() {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(2, 12))
                .invocationsPerIteration(500)
                .threads(2)
                .actorsPerThread(4)
                .checkObstructionFreedom(true)
                .verifier(EpsilonVerifier.class)
                .check(CommandRingLincheckTest.class);
    }

    @Test
    void acceptedIsTakenOnceUnderStress() {
        LincheckOptions.stress()
                .iterations(Effort.rounds(2, 6))
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(4)
                .verifier(EpsilonVerifier.class)
                .check(CommandRingLincheckTest.class);
    }
}

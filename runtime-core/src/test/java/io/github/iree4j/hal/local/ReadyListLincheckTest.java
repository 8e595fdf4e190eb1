package io.github.iree4j.hal.local;

import io.github.iree4j.Effort;
import io.github.iree4j.Lincheck;
import io.github.iree4j.LincheckOptions;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;

/**
 * READY-1: the list is a queue with additions by any thread and removal by one thread at a time.
 *
 * <p>Obstruction freedom is not claimed: the consumer waits for a producer between its two steps.
 */
@Lincheck
@Param(name = "number", gen = IntGen.class, conf = "0:9")
public class ReadyListLincheckTest {
    private final ReadyList list = new ReadyList();

    /** The sequential specification. */
    public static final class OneQueue {
        private final Queue<Integer> queue = new ArrayDeque<>();

        /** As the operation of the same name. */
        public void add(int number) {
            queue.add(number);
        }

        /** As the operation of the same name. */
        public String poll() {
            Integer number = queue.poll();
            return number == null ? "none" : number.toString();
        }
    }

    @Operation
    public void add(@Param(name = "number") int number) {
        list.add(new NumberedOperation(number));
    }

    @Operation(nonParallelGroup = "taker")
    public String poll() {
        return NumberedOperation.numberOf(list.poll());
    }

    @Test
    void theListIsAQueueUnderModelChecking() {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(2, 12))
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(3)
                .sequentialSpecification(OneQueue.class)
                .check(ReadyListLincheckTest.class);
    }

    @Test
    void theListIsAQueueUnderStress() {
        LincheckOptions.stress()
                .iterations(Effort.rounds(2, 6))
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(4)
                .sequentialSpecification(OneQueue.class)
                .check(ReadyListLincheckTest.class);
    }
}

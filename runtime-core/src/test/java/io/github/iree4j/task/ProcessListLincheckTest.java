package io.github.iree4j.task;

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
 * TASK-15: the immediate list and the overflow list, two lists over the same nodes, behave as two queues and are non-blocking.
 *
 * <p>Each push creates a process and each pop frees the node, so nodes are reused as fast as possible.
 */
@Lincheck
@Param(name = "name", gen = IntGen.class, conf = "0:9")
public class ProcessListLincheckTest {
    private final ListNodes nodes = new ListNodes();
    private final ProcessList immediate = new ProcessList(nodes);
    private final ProcessList overflow = new ProcessList(nodes);

    /** A process with nothing but a name. */
    private static final class Named extends TaskProcess {
        Named(String name) {
            super(ProcessOptions.named(name));
        }

        @Override
        protected DrainResult drain(WorkerContext worker) {
            return DrainResult.COMPLETED;
        }
    }

    /** The sequential specification. */
    public static final class TwoQueues {
        private final Queue<Integer> immediate = new ArrayDeque<>();
        private final Queue<Integer> overflow = new ArrayDeque<>();

        /** See the operation of the same name. */
        public void push(int name) {
            immediate.add(name);
        }

        /** See the operation of the same name. */
        public void pushToOverflow(int name) {
            overflow.add(name);
        }

        /** See the operation of the same name. */
        public String pop() {
            return first(immediate);
        }

        /** See the operation of the same name. */
        public String popFromOverflow() {
            return first(overflow);
        }

        /** See the operation of the same name. */
        public boolean isEmpty() {
            return immediate.isEmpty();
        }

        private static String first(Queue<Integer> queue) {
            Integer name = queue.poll();
            return name == null ? "none" : name.toString();
        }
    }

    @Operation
    public void push(@Param(name = "name") int name) {
        add(immediate, name);
    }

    @Operation
    public void pushToOverflow(@Param(name = "name") int name) {
        add(overflow, name);
    }

    private void add(ProcessList list, int name) {
        Named process = new Named(Integer.toString(name));
        process.node = nodes.take();
        list.push(process);
    }

    @Operation
    public String pop() {
        return take(immediate);
    }

    @Operation
    public String popFromOverflow() {
        return take(overflow);
    }

    private String take(ProcessList list) {
        TaskProcess process = list.pop();
        if (process == null) {
            return "none";
        }
        nodes.give(process.node);
        return process.options().name();
    }

    @Operation
    public boolean isEmpty() {
        return immediate.isEmpty();
    }

    @Test
    void listsAreQueuesUnderModelChecking() {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(2, 12))
                .invocationsPerIteration(500)
                .threads(2)
                .actorsPerThread(4)
                .checkObstructionFreedom(true)
                .sequentialSpecification(TwoQueues.class)
                .check(ProcessListLincheckTest.class);
    }

    @Test
    void listsAreQueuesUnderStress() {
        LincheckOptions.stress()
                .iterations(Effort.rounds(2, 6))
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(4)
                .sequentialSpecification(TwoQueues.class)
                .check(ProcessListLincheckTest.class);
    }
}

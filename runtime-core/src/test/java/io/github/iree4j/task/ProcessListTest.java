package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** The lists of processes in a wait for a worker or for a slot. */
class ProcessListTest {
    private final ListNodes nodes = new ListNodes();
    private final ProcessList list = new ProcessList(nodes);

    private TestProcess process(String name) {
        TestProcess process = TestProcess.oneShot(name);
        process.node = nodes.take();
        return process;
    }

    @Test
    void returnsProcessesInOrder() {
        TestProcess a = process("a");
        TestProcess b = process("b");
        assertThat(list.pop()).isNull();
        list.push(a);
        list.push(b);
        assertThat(list.isEmpty()).isFalse();
        assertThat(list.pop()).isSameAs(a);
        list.push(a);
        assertThat(list.pop()).isSameAs(b);
        assertThat(list.pop()).isSameAs(a);
        assertThat(list.pop()).isNull();
        assertThat(list.isEmpty()).isTrue();
    }

    @Test
    void processesMoveFromListToList() {
        ProcessList other = new ProcessList(nodes);
        TestProcess a = process("a");
        for (int i = 0; i < 100; i++) {
            list.push(a);
            assertThat(list.pop()).isSameAs(a);
            other.push(a);
            assertThat(other.pop()).isSameAs(a);
        }
    }

    @Test
    void freedNodesAreReused() {
        for (int i = 0; i < 5_000; i++) {
            TestProcess process = process("p");
            list.push(process);
            assertThat(list.pop()).isSameAs(process);
            nodes.give(process.node);
            assertThat(process.node).isLessThan(4);
        }
    }

    /** TASK-15: many producers and consumers take each process exactly as often as added. */
    @Test
    void nothingIsLostOrTakenTwiceByManyThreads() throws InterruptedException {
        int threads = 4;
        int rounds = 20_000;
        int processes = 6;
        AtomicIntegerArray holders = new AtomicIntegerArray(processes);
        List<TestProcess> all = new ArrayList<>();
        for (int i = 0; i < processes; i++) {
            TestProcess process = process(Integer.toString(i));
            all.add(process);
            list.push(process);
        }
        AtomicIntegerArray wrong = new AtomicIntegerArray(1);
        ProcessExecutorTest.concurrently(threads, index -> {
            for (int i = 0; i < rounds; i++) {
                TaskProcess taken = list.pop();
                if (taken != null) {
                    int which = Integer.parseInt(taken.options().name());
                    if (holders.incrementAndGet(which) != 1) {
                        wrong.incrementAndGet(0);
                    }
                    holders.decrementAndGet(which);
                    list.push(taken);
                }
            }
        });
        assertThat(wrong.get(0)).isZero();
        List<TaskProcess> left = new ArrayList<>();
        for (TaskProcess process; (process = list.pop()) != null; ) {
            left.add(process);
        }
        assertThat(left).containsExactlyInAnyOrderElementsOf(all);
    }
}

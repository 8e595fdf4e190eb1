package io.github.iree4j.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.AllocatedBytes;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes of tracking printed by the laboratory match the bytes of objects of HotSpot, within a byte. */
class TrackingBytesTest {
    private static final MethodHandle FRONTIER = frontiers();

    private static volatile Object sink = "";

    private record Point(Object timeline, long value) {}

    private record Points(Object[] timelines, long[] values) {}

    private static MethodHandle frontiers() {
        try { // the only way to a frontier with separate arrays and without scraps
            return MethodHandles.privateLookupIn(Frontier.class, MethodHandles.lookup())
                    .findStatic(
                            Frontier.class,
                            "ofSorted",
                            MethodType.methodType(Frontier.class, long[].class, long[].class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** The bytes printed for a result read by a number of operations on a number of queues. */
    private static long printed(int readers, int queues, WaitKnowledge way) {
        List<Scenario.Operation> operations = new ArrayList<>();
        operations.add(new Scenario.Operation("write", "gpu", 1, Map.of(), Map.of("w", 1L)));
        for (int i = 0; i < readers; i++) {
            operations.add(new Scenario.Operation(
                    "read" + i, "read " + i, "gpu", 1, Map.of("w", 1L), Map.of(), i % queues, 0, Map.of(), List.of()));
        }
        Scenario scenario = new Scenario(
                "x",
                "x",
                "",
                Scenario.Placement.QUEUES,
                List.of(new Scenario.Hardware("gpu", queues, false)),
                List.of(new Scenario.Semaphore("w", "w")),
                operations,
                List.of(),
                List.of(),
                List.of());
        return Comparison.of(scenario, LabOptions.DEFAULTS).way(way).trackingBytes();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 12, 13, 20})
    void anEventForEachUseTakesThePrintedBytes(int uses) {
        AllocatedBytes.assumeDefaultLayout();
        assertThat((double) printed(uses, 2, WaitKnowledge.EVENTS))
                .isCloseTo(AllocatedBytes.perCall(() -> sink = new Object[uses]), within(1.0));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 12, 13, 20})
    void aPointForEachQueueTakesThePrintedBytes(int queues) {
        AllocatedBytes.assumeDefaultLayout();
        Object timeline = "";
        double measured = AllocatedBytes.perCall(
                () -> sink = queues == 1 ? new Point(timeline, 1) : new Points(new Object[queues], new long[queues]));
        assertThat((double) printed(2 * queues, queues, WaitKnowledge.TIMELINES))
                .isCloseTo(measured, within(1.0));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 12, 13, 20})
    void aFrontierTakesThePrintedBytes(int queues) {
        AllocatedBytes.assumeDefaultLayout();
        long[] axes = IntStream.range(0, Math.min(queues, Frontier.DEFAULT_CAPACITY))
                .mapToLong(i -> Axis.of(1, 0, CausalDomain.QUEUE, 1 + i))
                .toArray();
        long[] epochs = IntStream.range(0, axes.length).mapToLong(i -> 1 + i).toArray();
        double measured = AllocatedBytes.perCall(() -> sink = frontier(axes, epochs.clone()));
        double epochsOfOne = queues == 1 ? AllocatedBytes.perCall(() -> sink = epochs.clone()) : 0; // kept by nobody
        assertThat((double) printed(2 * queues, queues, WaitKnowledge.FRONTIERS))
                .isCloseTo(measured - epochsOfOne, within(1.0));
    }

    private static Frontier frontier(long[] axes, long[] epochs) {
        try {
            return (Frontier) FRONTIER.invokeExact(axes, epochs, 0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}

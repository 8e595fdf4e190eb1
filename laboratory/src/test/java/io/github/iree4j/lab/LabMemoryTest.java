package io.github.iree4j.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.lab.LabResult.Block;
import io.github.iree4j.lab.LabResult.MemoryEvent;
import io.github.iree4j.lab.LabResult.OperationRun;
import io.github.iree4j.lab.LabResult.Reuse;
import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.lab.Scenario.Placement;
import io.github.iree4j.lab.Scenario.Semaphore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims about scenarios with allocations and frees of the pools of their hardware. */
class LabMemoryTest {
    private static final Scenario SHARED = Laboratory.scenario("shared-pool");

    private static Block block(Reuse reuse, Map<String, Long> frontier) {
        return new Block(0, 0, reuse, frontier);
    }

    private static Scenario withMemory(long units) {
        return new Scenario(
                "x",
                "x",
                "",
                Placement.LANES,
                List.of(new Hardware("cpu", 2, false), new Hardware("gpu", "gpu", 2, true, units, "")),
                SHARED.semaphores(),
                SHARED.operations(),
                List.of(),
                List.of(),
                List.of());
    }

    @Test
    void missingMemoryBecomesAnEdgeBetweenRequests() {
        LabResult result = Laboratory.run(SHARED, LabOptions.DEFAULTS);
        assertThat(result.violations()).isEmpty();
        assertThat(result.isRetired()).isTrue();
        OperationRun prefill = result.operations().get(3);
        assertThat(prefill.start()).as("after the first request").isEqualTo(8);
        assertThat(prefill.issued())
                .as("with the hardware before there is memory")
                .isZero();
        assertThat(prefill.frontier()).isEqualTo(Map.of("A", 3L, "B", 2L));
        assertThat(result.memory())
                .containsExactly(
                        new MemoryEvent(1, "gpu", "a_cache", 6, "a_prefill", block(Reuse.UNUSED, Map.of())),
                        new MemoryEvent(8, "gpu", "a_cache", -6, "a_decode", block(Reuse.FREED, Map.of("A", 3L))),
                        new MemoryEvent(8, "gpu", "b_cache", 6, "b_prefill", block(Reuse.AFTER_WAIT, Map.of("A", 3L))),
                        new MemoryEvent(
                                15, "gpu", "b_cache", -6, "b_decode", block(Reuse.FREED, Map.of("A", 3L, "B", 3L))));
        assertThat(result.finalTick()).isEqualTo(16);
    }

    @Test
    void withMoreMemoryRequestsAreIndependent() {
        LabResult result = Laboratory.run(withMemory(12), LabOptions.DEFAULTS);
        assertThat(result.operations().get(3).start()).isEqualTo(1);
        assertThat(result.operations().get(3).frontier()).isEqualTo(Map.of("B", 2L));
        assertThat(result.finalTick()).isEqualTo(9);
    }

    @ParameterizedTest
    @CsvSource({"memory-pressure, image_unet, M", "memory-pressure, restore, I", "buffer-reuse, load_others, X"})
    void memoryAloneMakesTheOrder(String id, String operation, String timeline) {
        Scenario scenario = Laboratory.scenario(id);
        for (Placement placement : Placement.values()) {
            assertThat(frontier(scenario.withPlacement(placement), operation)).containsKey(timeline);
            assertThat(frontier(withoutMemory(scenario).withPlacement(placement), operation))
                    .as("without allocations")
                    .doesNotContainKey(timeline);
        }
    }

    private static Map<String, Long> frontier(Scenario scenario, String operation) {
        return Laboratory.run(scenario, LabOptions.DEFAULTS).operations().stream()
                .filter(each -> each.operation().id().equals(operation))
                .findFirst()
                .orElseThrow()
                .frontier();
    }

    private static Scenario withoutMemory(Scenario scenario) {
        return new Scenario(
                scenario.id(),
                scenario.label(),
                scenario.description(),
                scenario.placement(),
                scenario.hardware(),
                scenario.semaphores(),
                scenario.operations().stream()
                        .map(each -> new Operation(
                                each.id(),
                                each.label(),
                                each.hardware(),
                                each.duration(),
                                each.waits(),
                                each.signals(),
                                each.queue(),
                                each.submitted(),
                                Map.of(),
                                List.of()))
                        .toList(),
                List.of(),
                List.of(),
                List.of());
    }

    @Test
    void memoryOfFailedWorkServesOthers() {
        LabResult result =
                Laboratory.run(SHARED, LabOptions.DEFAULTS.withFaults(List.of(Fault.parse("fail:a_prefill"))));
        assertThat(result.violations()).isEmpty();
        assertThat(result.operations().stream().filter(each -> each.failure() != null))
                .extracting(each -> each.operation().id())
                .containsExactly("a_prefill", "a_decode");
        assertThat(result.memory().stream().mapToLong(MemoryEvent::units).sum()).isZero();
    }

    @Test
    void aVainWaiterForMemoryFails() {
        Scenario scenario = Laboratory.read("""
                id: x
                hardware: [{id: gpu, memory: 8}]
                semaphores: [s]
                operations:
                  - {id: keeps, hw: gpu, alloc: {a: 6}}
                  - {id: waits, hw: gpu, signal: {s: 1}, alloc: {b: 6}}
                  - {id: follows, hw: gpu, wait: {s: 1}}
                  - {id: small, hw: gpu, alloc: {c: 1}}
                """);
        LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS);
        assertThat(result.operations().get(1).failure())
                .contains("RESOURCE_EXHAUSTED", "waits for 6 units of memory of 'gpu' for buffer 'b'");
        assertThat(result.operations().get(2).failure()).contains("buffer 'b'");
        assertThat(result.operations().getFirst().failure()).isNull();
        assertThat(result.violations()).isEmpty();
    }

    @Test
    void aWaiterInLineFailsAlsoWhenATimelineFailsBehindTheReachedValue() {
        LabResult result = Laboratory.run(Laboratory.read("""
                        id: x
                        hardware: [{id: gpu, memory: 8}]
                        semaphores: [s, t]
                        operations:
                          - {id: keeps, hw: gpu, signal: {s: 1}, alloc: {a: 6}}
                          - {id: first, hw: gpu, signal: {t: 1}, alloc: {b: 6}}
                          - {id: follows, hw: gpu, wait: {s: 1, t: 1}, signal: {s: 2}}
                          - {id: second, hw: gpu, wait: {s: 1}, alloc: {c: 6}}
                        """), LabOptions.DEFAULTS);
        assertThat(result.violations()).isEmpty();
        assertThat(result.operations().get(2).failure()).contains("buffer 'b'");
        assertThat(result.operations().get(3).failure()).contains("RESOURCE_EXHAUSTED", "buffer 'c'");
    }

    @Test
    void theLongestWaiterInLineIsGivenUpAloneAndLeavesItsMemoryToTheNext() {
        LabResult result = Laboratory.run(Laboratory.read("""
                        id: x
                        hardware: [{id: gpu, memory: 8}]
                        operations:
                          - {id: late, hw: gpu, submitted: 3, alloc: {c: 6}, free: [c]}
                          - {id: greedy, hw: gpu, alloc: {a: 4, b: 6}, free: [a, b]}
                        """), LabOptions.DEFAULTS);
        assertThat(result.violations()).isEmpty();
        assertThat(result.operations().get(1).failure()).contains("RESOURCE_EXHAUSTED", "buffer 'b'");
        assertThat(result.operations().getFirst().failure()).isNull();
        assertThat(result.memory())
                .extracting(each -> each.buffer() + each.units())
                .containsExactly("a4", "a-4", "c6", "c-6");
    }

    private static Scenario independent(int allocating, int others) {
        StringBuilder text = new StringBuilder("""
                id: x
                hardware: [{id: gpu, lanes: 64, memory: 4}]
                operations:
                  - {id: first, hw: gpu, duration: 5, alloc: {first: 4}, free: [first]}
                """);
        for (int i = 0; i < others; i++) {
            text.append("  - {id: o%d, hw: gpu}%n".formatted(i));
        }
        for (int i = 1; i < allocating; i++) {
            text.append("  - {id: a%d, hw: gpu, alloc: {b%d: 4}, free: [b%d]}%n".formatted(i, i, i));
        }
        return Laboratory.read(text.toString());
    }

    @Test
    void manyQueuesShareTheMemoryOfTheirHardware() {
        LabResult result = Laboratory.run(independent(2, 100), LabOptions.DEFAULTS);
        assertThat(result.violations()).isEmpty();
        assertThat(result.isRetired()).isTrue();
        assertThat(result.operations().getLast().start()).isEqualTo(5);
    }

    @Test
    void moreQueuesThanCanShareMemoryAreRefused() {
        assertThat(Laboratory.run(independent(64, 1), LabOptions.DEFAULTS).isRetired())
                .isTrue();
        Scenario scenario = independent(65, 0);
        assertThatThrownBy(() -> Laboratory.run(scenario, LabOptions.DEFAULTS))
                .hasMessageContaining("more than 64 independent operations")
                .hasMessageContaining("memory of hardware 'gpu'");
        assertThat(Laboratory.run(scenario.withPlacement(Placement.QUEUES), LabOptions.DEFAULTS)
                        .isRetired())
                .isTrue();
    }

    @Test
    void impossibleRequestsAreRefused() {
        String head = "id: x\nhardware: [{id: gpu, memory: 8}, cpu]\nsemaphores: [s]\noperations:\n";
        assertThatThrownBy(() -> Laboratory.read(head + "  - {id: a, hw: gpu, alloc: {b: 9}}"))
                .hasMessageContaining("buffer 'b' of 9 units never fits the memory of hardware 'gpu', which has 8");
        assertThatThrownBy(() -> Laboratory.read(head + "  - {id: a, hw: gpu, free: [b]}"))
                .hasMessageContaining("frees buffer 'b', allocated by no operation");
        assertThatThrownBy(() -> Laboratory.read(head + "  - {id: a, hw: gpu, alloc: {b: 1}, free: [b, b]}"))
                .hasMessageContaining("buffer 'b' is freed twice");
        assertThatThrownBy(() ->
                        Laboratory.read(head + "  - {id: a, hw: gpu, alloc: {b: 1}}\n  - {id: c, hw: gpu, free: [b]}"))
                .hasMessageContaining("'c' frees buffer 'b' but does not follow the allocating operation 'a'");
        assertThatThrownBy(
                        () -> Laboratory.read(
                                head
                                        + "  - {id: a, hw: gpu, alloc: {b: 1}, signal: {s: 1}}\n  - {id: c, hw: cpu, wait: {s: 1}, free: [b]}"))
                .hasMessageContaining("free buffers on the same hardware");
        assertThatThrownBy(() -> Laboratory.read(head + "  - {id: a, hw: cpu, alloc: {b: 4097}}"))
                .hasMessageContaining("size of buffer 'b' is 4097, which is not within [1, 4096]");
    }

    /** Requests of random sizes in a random pool, with faults: never more than there is, nothing kept, nothing early, nothing hangs. */
    @Test
    void noRunUsesMoreThanThereIsOrKeepsAny() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int shared = 0;
        for (int i = 0; i < Integer.getInteger("iree4j.lab.memory-runs", 300); i++) {
            String what = "seed %d run %d".formatted(seed, i);
            int memory = 4 + random.nextInt(12);
            Scenario scenario = requests(random, memory);
            List<Fault> faults = new ArrayList<>();
            if (random.nextInt(3) == 0) {
                Operation hit = scenario.operations()
                        .get(random.nextInt(scenario.operations().size()));
                faults.add(new Fault(
                        random.nextBoolean() ? Fault.Kind.FAIL : Fault.Kind.LOSE, hit.id(), random.nextInt(20), 1));
            }
            LabResult result = Laboratory.run(
                    scenario,
                    new LabOptions(Scale.ONE, faults, random.nextInt(3), WaitKnowledge.values()[random.nextInt(3)]));
            assertThat(result.violations()).as(what).isEmpty();
            if (faults.isEmpty()) {
                assertThat(result.isRetired()).as(what).isTrue();
            }
            Map<String, Long> held = new HashMap<>();
            for (MemoryEvent each : result.memory()) {
                long now = held.merge(each.hardware(), each.units(), Long::sum);
                assertThat(now).as(what).isBetween(0L, (long) memory);
            }
            assertThat(held.values()).as(what).allMatch(units -> units == 0);
            shared += result.operations().stream()
                            .anyMatch(each -> each.frontier() != null
                                    && each.frontier().keySet().size() > 1)
                    ? 1
                    : 0;
        }
        assertThat(shared).as("runs with requests ordered by memory, %d", seed).isGreaterThan(50);
    }

    private static Scenario requests(Random random, int memory) {
        int count = 2 + random.nextInt(5);
        List<Hardware> hardware = List.of(
                new Hardware("gpu", "gpu", 1 + random.nextInt(2), false, memory, ""),
                new Hardware("npu", "npu", 1 + random.nextInt(2), false, memory, ""));
        List<Semaphore> semaphores = new ArrayList<>();
        List<List<Operation>> requests = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String semaphore = "s" + i;
            semaphores.add(new Semaphore(semaphore, semaphore));
            String where = hardware.get(random.nextInt(2)).id();
            int length = 2 + random.nextInt(3);
            List<Operation> steps = new ArrayList<>();
            for (int j = 0; j < length; j++) {
                Map<String, Long> waits = new LinkedHashMap<>();
                if (j > 0) {
                    waits.put(semaphore, (long) j);
                }
                steps.add(new Operation(
                        "o%d_%d".formatted(i, j),
                        "step %d of %d".formatted(j, i),
                        where,
                        random.nextInt(4),
                        waits,
                        Map.of(semaphore, j + 1L),
                        -1,
                        0,
                        j == 0 ? Map.of("b" + i, 1L + random.nextInt(memory)) : Map.of(),
                        j == length - 1 ? List.of("b" + i) : List.of()));
            }
            requests.add(steps);
        }
        List<Operation> operations = new ArrayList<>();
        while (!requests.isEmpty()) { // interleaved
            List<Operation> next = requests.get(random.nextInt(requests.size()));
            operations.add(next.removeFirst());
            requests.removeIf(List::isEmpty);
        }
        return new Scenario(
                "x",
                "x",
                "",
                random.nextBoolean() ? Placement.LANES : Placement.QUEUES,
                hardware,
                semaphores,
                operations,
                List.of(),
                List.of(),
                List.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "3"})
    void memoryIsFreedBehindAnOperationSubmittedBeforeItsAllocation(String submitted) {
        LabResult result = Laboratory.run(Laboratory.read("""
                        id: x
                        hardware: [{id: gpu, memory: 4}]
                        semaphores: [s]
                        operations:
                          - {id: free, hw: gpu, wait: {s: 1}, signal: {s: 2}, free: [a]}
                          - {id: allocate, hw: gpu, signal: {s: 1}, alloc: {a: 4}, submitted: %s}
                          - {id: again, hw: gpu, wait: {s: 2}, alloc: {b: 4}, submitted: 4}
                        """.formatted(submitted)), LabOptions.DEFAULTS);
        assertThat(result.violations()).isEmpty();
        assertThat(result.isRetired()).isTrue();
        assertThat(result.memory().stream().map(MemoryEvent::units)).containsExactly(4L, -4L, 4L);
    }

    @Test
    void memoryIsAllocatedBeforeItsFreeAlsoWhenItsProgramFails() {
        LabResult result = Laboratory.run(Laboratory.read("""
                        id: x
                        placement: queues
                        hardware: [{id: gpu, memory: 7}]
                        semaphores: [s, t]
                        operations:
                          - {id: a, hw: gpu, signal: {s: 1}, alloc: {a1: 3}}
                          - {id: b, hw: gpu, wait: {s: 1}, signal: {t: 1}, alloc: {b1: 3}}
                          - {id: c, hw: gpu, alloc: {c1: 2, c2: 2}, free: [c2]}
                          - {id: d, hw: gpu, wait: {t: 1}, alloc: {d1: 2}, free: [b1]}
                          - {id: e, hw: gpu, wait: {t: 1}, alloc: {e1: 3}, free: [a1]}
                        """), LabOptions.DEFAULTS);
        long used = 0;
        for (MemoryEvent each : result.memory()) {
            used += each.units();
            assertThat(used).as("%s", each).isBetween(0L, 7L);
        }
    }
}

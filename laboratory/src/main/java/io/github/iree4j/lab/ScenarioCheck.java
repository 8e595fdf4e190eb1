package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.lab.Scenario.IterationDependency;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.lab.Scenario.Placement;
import io.github.iree4j.lab.Scenario.Semaphore;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Checks that a scenario can be run, whatever the source. */
final class ScenarioCheck {
    private ScenarioCheck() {}

    static void check(
            List<Hardware> hardware,
            List<Semaphore> semaphores,
            List<Operation> operations,
            List<String> chainThrough,
            List<IterationDependency> iterations,
            Placement placement) {
        Set<String> timelines =
                unique("semaphore", semaphores.stream().map(Semaphore::id).toList());
        Map<String, Hardware> classes = new HashMap<>();
        int scalable = 0;
        for (Hardware each : hardware) {
            if (classes.put(each.id(), each) != null) {
                throw invalid("hardware '%s' is defined twice".formatted(each.id()));
            }
            scalable += each.scalable() ? 1 : 0;
        }
        for (Hardware each : hardware) {
            if (classes.containsKey(each.machine())) {
                throw invalid("'%s' names a machine and a class of hardware; rename either".formatted(each.machine()));
            }
        }
        if (scalable > 1) {
            throw invalid("%d classes of hardware are scalable; at most one may be".formatted(scalable));
        }
        unique("operation", operations.stream().map(Operation::id).toList());
        long edges = 0;
        for (Operation each : operations) {
            Hardware runs = classes.get(each.hardware());
            if (runs == null) {
                throw invalid("operation '%s' runs on unknown hardware '%s'; define it"
                        .formatted(each.id(), each.hardware()));
            }
            if (each.queue() >= runs.lanes()) {
                throw invalid("operation '%s' is for queue %d of hardware '%s', which has %d lanes"
                        .formatted(each.id(), each.queue(), runs.id(), runs.lanes()));
            }
            known(timelines, each, "waits for", each.waits());
            known(timelines, each, "signals", each.signals());
            edges += each.waits().size() + each.signals().size();
        }
        if (edges > Scenario.MAXIMUM_EDGES) {
            throw invalid("%d waits and signals are more than %d; split the scenario"
                    .formatted(edges, Scenario.MAXIMUM_EDGES));
        }
        checkChains(timelines, operations, chainThrough, iterations);
        ScenarioGraph graph = ScenarioGraph.of(operations);
        checkMemory(classes, operations, graph);
        if (placement == Placement.LANES) { // queues order operations, known only in the run
            graph.checkSignalsAreOrdered();
        }
    }

    private static Set<String> unique(String what, List<String> ids) {
        Set<String> seen = new HashSet<>();
        for (String id : ids) {
            if (!seen.add(id)) {
                throw invalid("%s '%s' is defined twice".formatted(what, id));
            }
        }
        return seen;
    }

    private static void known(Set<String> timelines, Operation operation, String verb, Map<String, Long> values) {
        for (String semaphore : values.keySet()) {
            if (!timelines.contains(semaphore)) {
                throw invalid("operation '%s' %s unknown semaphore '%s'; define it"
                        .formatted(operation.id(), verb, semaphore));
            }
        }
    }

    private static void checkChains(
            Set<String> timelines,
            List<Operation> operations,
            List<String> chainThrough,
            List<IterationDependency> iterations) {
        unique("chained semaphore", chainThrough);
        Set<String> signalled = new HashSet<>();
        operations.forEach(each -> signalled.addAll(each.signals().keySet()));
        for (String each : chainThrough) {
            if (!timelines.contains(each)) {
                throw invalid("repetitions are chained through unknown semaphore '%s'; define it".formatted(each));
            }
            if (!signalled.contains(each)) {
                throw invalid(
                        "repetitions are chained through semaphore '%s', which no operation signals".formatted(each));
            }
        }
        Map<String, Operation> byId = new HashMap<>();
        operations.forEach(each -> byId.put(each.id(), each));
        for (IterationDependency each : iterations) {
            Operation operation = byId.get(each.operation());
            if (operation == null) {
                throw invalid("an iteration dependency names unknown operation '%s'".formatted(each.operation()));
            }
            if (!operation.signals().containsKey(each.semaphore())) {
                throw invalid(
                        "operation '%s' is to follow the previous iteration on semaphore '%s', but does not signal the semaphore"
                                .formatted(each.operation(), each.semaphore()));
            }
        }
    }

    private static void checkMemory(Map<String, Hardware> classes, List<Operation> operations, ScenarioGraph graph) {
        Map<String, Integer> allocators = new HashMap<>();
        long all = 0;
        for (int i = 0; i < operations.size(); i++) {
            Operation operation = operations.get(i);
            Hardware runs = classes.get(operation.hardware());
            for (Map.Entry<String, Long> each : operation.allocates().entrySet()) {
                if (allocators.put(each.getKey(), i) != null) {
                    throw invalid("buffer '%s' is allocated twice".formatted(each.getKey()));
                }
                if (runs != null && runs.memory() > 0 && each.getValue() > runs.memory()) {
                    throw invalid("buffer '%s' of %d units never fits the memory of hardware '%s', which has %d"
                            .formatted(each.getKey(), each.getValue(), runs.id(), runs.memory()));
                }
                all += each.getValue();
            }
        }
        if (all > Scenario.MAXIMUM_ALLOCATED) {
            throw invalid("operations allocate %d units of memory, more than %d; let a unit be more"
                    .formatted(all, Scenario.MAXIMUM_ALLOCATED));
        }
        Set<String> freed = new HashSet<>();
        for (int i = 0; i < operations.size(); i++) {
            Operation operation = operations.get(i);
            for (String each : operation.frees()) {
                Integer allocator = allocators.get(each);
                if (allocator == null) {
                    throw invalid("operation '%s' frees buffer '%s', allocated by no operation"
                            .formatted(operation.id(), each));
                }
                if (!freed.add(each)) {
                    throw invalid("buffer '%s' is freed twice".formatted(each));
                }
                Operation its = operations.get(allocator);
                if (!its.hardware().equals(operation.hardware())) {
                    throw invalid("operation '%s' on '%s' frees buffer '%s' of '%s'; free buffers on the same hardware"
                            .formatted(operation.id(), operation.hardware(), each, its.hardware()));
                }
                if (allocator != i && !graph.before(i).get(allocator)) {
                    throw invalid("operation '%s' frees buffer '%s' but does not follow the allocating operation '%s'"
                            .formatted(operation.id(), each, its.id()));
                }
            }
        }
    }
}

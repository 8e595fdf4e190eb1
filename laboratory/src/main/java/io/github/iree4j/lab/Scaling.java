package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.lab.Scenario.Semaphore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Multiplies a scenario. The names of the second copy end in {@code /2}, the names of the copy's third repetition
 * in {@code /2.3}.
 */
final class Scaling {
    private final Scenario scenario;
    private final Scale scale;
    private final Set<String> shared = new HashSet<>(); // timelines used by all repetitions of a copy
    private final Map<String, Long> stride = new HashMap<>(); // the largest value signalled
    private final Map<String, Set<String>> followsItself = new HashMap<>(); // timelines by operation

    private Scaling(Scenario scenario, Scale scale) {
        this.scenario = scenario;
        this.scale = scale;
        shared.addAll(scenario.chainThrough());
        scenario.iterationDependencies().forEach(each -> {
            shared.add(each.semaphore());
            followsItself
                    .computeIfAbsent(each.operation(), _ -> new HashSet<>())
                    .add(each.semaphore());
        });
        scenario.operations().forEach(each -> each.signals().forEach((s, value) -> stride.merge(s, value, Math::max)));
    }

    /** Returns the scenario itself for {@link Scale#ONE}. */
    static Scenario scale(Scenario scenario, Scale scale) {
        if (scale.depth() > 1 && !scenario.canRepeat()) {
            throw invalid(
                    "scenario '%s' has no semaphore chaining repetitions, so the depth is 1, not %d; name a semaphore in chain_through"
                            .formatted(scenario.id(), scale.depth()));
        }
        if (scale.lanes() > 0 && !scenario.isScalable()) {
            throw invalid("scenario '%s' has no scalable hardware for %d lanes; mark a class as scalable"
                    .formatted(scenario.id(), scale.lanes()));
        }
        return scale.equals(Scale.ONE) ? scenario : new Scaling(scenario, scale).multiply();
    }

    private Scenario multiply() {
        List<Hardware> hardware = scenario.hardware().stream()
                .map(each -> each.scalable() && scale.lanes() > 0 ? each.withLanes(scale.lanes()) : each)
                .toList();
        List<Operation> operations = new ArrayList<>();
        Map<String, Semaphore> originals = new LinkedHashMap<>(); // of each copy, by the copy's name
        for (int copy = 0; copy < scale.width(); copy++) {
            for (int repetition = 0; repetition < scale.depth(); repetition++) {
                for (Semaphore each : scenario.semaphores()) {
                    String name = semaphore(each.id(), copy, repetition);
                    Semaphore other = originals.put(name, each);
                    if (other != null && !other.equals(each)) {
                        throw invalid("copies of semaphores '%s' and '%s' would both be '%s'; rename either"
                                .formatted(other.id(), each.id(), name));
                    }
                }
                for (Operation each : scenario.operations()) {
                    operations.add(operation(each, copy, repetition));
                }
            }
        }
        List<Semaphore> semaphores = new ArrayList<>();
        originals.forEach((name, each) -> {
            String suffix = name.substring(each.id().length());
            semaphores.add(new Semaphore(name, each.label() + suffix));
        });
        boolean once = scale.width() == 1 && scale.depth() == 1;
        return new Scenario(
                scenario.id(),
                scenario.label(),
                scenario.description(),
                scenario.placement(),
                hardware,
                semaphores,
                operations,
                once ? scenario.chainThrough() : List.of(),
                once ? scenario.iterationDependencies() : List.of(),
                scenario.annotations());
    }

    private Operation operation(Operation operation, int copy, int repetition) {
        Map<String, Long> waits = new LinkedHashMap<>();
        operation.waits().forEach((s, value) -> waits.put(semaphore(s, copy, repetition), value(s, value, repetition)));
        if (repetition > 0 && operation.waits().isEmpty()) {
            for (String each : scenario.chainThrough()) {
                waits.put(semaphore(each, copy, repetition), repetition * stride.getOrDefault(each, 0L));
            }
        }
        Map<String, Long> signals = new LinkedHashMap<>();
        operation.signals().forEach((s, value) -> {
            signals.put(semaphore(s, copy, repetition), value(s, value, repetition));
            if (repetition > 0
                    && followsItself.getOrDefault(operation.id(), Set.of()).contains(s)) {
                waits.merge(semaphore(s, copy, repetition), value(s, value, repetition - 1), Math::max);
            }
        });
        Map<String, Long> allocates = new LinkedHashMap<>();
        operation.allocates().forEach((buffer, units) -> allocates.put(name(buffer, copy, repetition), units));
        return new Operation(
                name(operation.id(), copy, repetition),
                name(operation.label(), copy, repetition),
                operation.hardware(),
                operation.duration(),
                waits,
                signals,
                Math.min(operation.queue(), laneLimit(operation) - 1),
                operation.submitted(),
                allocates,
                operation.frees().stream()
                        .map(each -> name(each, copy, repetition))
                        .toList());
    }

    private int laneLimit(Operation operation) {
        for (Hardware each : scenario.hardware()) {
            if (each.id().equals(operation.hardware())) {
                return each.scalable() && scale.lanes() > 0 ? scale.lanes() : each.lanes();
            }
        }
        return 1;
    }

    private long value(String semaphore, long value, int repetition) {
        return shared.contains(semaphore) ? value + repetition * stride.getOrDefault(semaphore, 0L) : value;
    }

    private String semaphore(String id, int copy, int repetition) {
        return name(id, copy, shared.contains(id) ? 0 : repetition);
    }

    private static String name(String id, int copy, int repetition) {
        return repetition > 0 ? id + "/" + (copy + 1) + "." + (repetition + 1) : copy > 0 ? id + "/" + (copy + 1) : id;
    }
}

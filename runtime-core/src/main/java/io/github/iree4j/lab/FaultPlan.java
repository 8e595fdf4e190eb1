package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The faults of one run. */
final class FaultPlan {
    private final Scenario scenario;
    private final List<Fault> faults;
    private final Map<String, Integer> hardware = new HashMap<>();
    private final Map<String, String> runsOn = new HashMap<>(); // hardware by operation
    private final Set<Fault> spent = new HashSet<>(); // of those that happen once

    FaultPlan(Scenario scenario, List<Fault> faults) {
        this.scenario = scenario;
        this.faults = faults;
        for (int i = 0; i < scenario.hardware().size(); i++) {
            hardware.put(scenario.hardware().get(i).id(), i);
        }
        scenario.operations().forEach(each -> runsOn.put(each.id(), each.hardware()));
        for (Fault each : faults) {
            if (!hardware.containsKey(each.target()) && !runsOn.containsKey(each.target())) {
                throw invalid("fault '%s' is of '%s', which is neither hardware nor an operation of scenario '%s'"
                        .formatted(each, each.target(), scenario.id()));
            }
        }
    }

    void schedule(VirtualClock clock, LabRun run) {
        for (Fault each : faults) {
            if (each.kind() == Fault.Kind.LOSE) {
                String target = runsOn.getOrDefault(each.target(), each.target());
                int its = hardware.getOrDefault(each.target(), hardware.getOrDefault(target, 0));
                Hardware gone = scenario.hardware().get(its);
                clock.schedule(each.tick(), () -> run.lose(its, LabRun.lost(gone, each.tick())));
            }
        }
    }

    private boolean isFor(Fault fault, LabRun.Work work) {
        return hardware.containsKey(fault.target())
                ? fault.target().equals(work.operation.hardware())
                : fault.target().equals(work.operation.id());
    }

    /** An operation starts. */
    void starts(LabRun.Work work, long now) {
        for (Fault each : faults) {
            if (each.kind() == Fault.Kind.EXHAUST && now >= each.tick() && isFor(each, work) && spent.add(each)) {
                work.exhausted = true;
            }
        }
    }

    /** How many times longer an operation that starts takes. */
    long factor(LabRun.Work work, long now) {
        long factor = 1;
        for (Fault each : faults) {
            if (each.kind() == Fault.Kind.SLOW && now >= each.tick() && isFor(each, work)) {
                factor = Math.max(factor, each.factor());
            }
        }
        return factor;
    }

    /** Why an operation that ends fails, or null. */
    @Nullable
    IreeException failure(LabRun.Work work, long now) {
        if (work.exhausted) {
            return new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "operation '%s' found no memory on '%s'".formatted(work.operation.id(), work.operation.hardware()));
        }
        for (Fault each : faults) {
            boolean due = !hardware.containsKey(each.target()) || work.start <= each.tick() && each.tick() < now;
            if (each.kind() == Fault.Kind.FAIL && due && isFor(each, work)) {
                return new IreeException(
                        StatusCode.INTERNAL, "operation '%s' failed on purpose".formatted(work.operation.id()));
            }
        }
        return null;
    }
}

package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The faults of a run. */
final class FaultPlan {
    private final Scenario scenario;
    private final List<Fault> faults;
    private final Map<String, Integer> hardware = new HashMap<>();
    private final Set<String> machines = new HashSet<>();
    private final Map<String, String> runsOn = new HashMap<>(); // hardware by operation
    private final Set<Fault> spent = new HashSet<>(); // faults of kinds happening once

    FaultPlan(Scenario scenario, List<Fault> faults) {
        this.scenario = scenario;
        this.faults = faults;
        for (int i = 0; i < scenario.hardware().size(); i++) {
            hardware.put(scenario.hardware().get(i).id(), i);
        }
        scenario.operations().forEach(each -> runsOn.put(each.id(), each.hardware()));
        scenario.hardware().forEach(each -> machines.add(each.machine()));
        for (Fault each : faults) {
            if (!isHardware(each) && !runsOn.containsKey(each.target())) {
                throw invalid("fault '%s' is of '%s', neither hardware, a machine nor an operation of scenario '%s'"
                        .formatted(each, each.target(), scenario.id()));
            }
        }
    }

    void schedule(VirtualClock clock, LabRun run) {
        for (Fault each : faults) {
            if (each.kind() == Fault.Kind.KILL || each.kind() == Fault.Kind.LOSE) {
                BitSet gone = gone(each);
                IreeException cause = cause(each, gone);
                clock.schedule(each.tick(), () -> run.lose(gone, cause));
            }
        }
    }

    /** Returns the rejected verifications. */
    List<Fault> rejections() {
        return faults.stream()
                .filter(each -> each.kind() == Fault.Kind.REJECT)
                .distinct()
                .toList();
    }

    /** Returns whether a fault is of hardware or of a machine, rather than of an operation. */
    private boolean isHardware(Fault fault) {
        return hardware.containsKey(fault.target()) || machines.contains(fault.target());
    }

    /** Returns the lost hardware. */
    private BitSet gone(Fault fault) {
        String target = isHardware(fault) ? fault.target() : runsOn.getOrDefault(fault.target(), "");
        Integer its = hardware.get(target);
        BitSet gone = new BitSet();
        if (its != null && fault.kind() == Fault.Kind.LOSE) {
            gone.set(its);
            return gone;
        }
        String machine = its == null ? target : scenario.hardware().get(its).machine();
        for (int i = 0; i < scenario.hardware().size(); i++) {
            gone.set(i, scenario.hardware().get(i).machine().equals(machine));
        }
        return gone;
    }

    private IreeException cause(Fault fault, BitSet gone) {
        Hardware first = scenario.hardware().get(gone.nextSetBit(0));
        boolean killed = fault.kind() == Fault.Kind.KILL;
        String what = killed || machines.contains(fault.target())
                ? first.machine().isEmpty() ? "the machine" : "machine '%s'".formatted(first.machine())
                : "hardware '%s'".formatted(first.id());
        return IreeException.of(
                StatusCode.UNAVAILABLE,
                "%s was %s at tick %d".formatted(what, killed ? "killed" : "lost", fault.tick()));
    }

    private boolean isFor(Fault fault, LabRun.Work work) {
        if (!isHardware(fault)) {
            return fault.target().equals(work.operation.id());
        }
        String its = work.operation.hardware();
        return fault.target().equals(its)
                || scenario.hardware()
                        .get(hardware.getOrDefault(its, 0))
                        .machine()
                        .equals(fault.target());
    }

    /** Applies faults at the start of an operation. */
    void starts(LabRun.Work work, long now) {
        for (Fault each : faults) {
            if (each.kind() == Fault.Kind.EXHAUST && now >= each.tick() && isFor(each, work) && spent.add(each)) {
                work.exhausted = true;
            }
        }
    }

    /** Returns how many times longer a starting operation takes. */
    long factor(LabRun.Work work, long now) {
        long factor = 1;
        for (Fault each : faults) {
            if (each.kind() == Fault.Kind.SLOW && now >= each.tick() && isFor(each, work)) {
                factor = Math.max(factor, each.factor());
            }
        }
        return factor;
    }

    /** Returns why an ending operation fails, or null. */
    @Nullable
    IreeException failure(LabRun.Work work, long now) {
        if (work.exhausted) {
            return IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "operation '%s' found no memory on '%s'".formatted(work.operation.id(), work.operation.hardware()));
        }
        for (Fault each : faults) {
            boolean due = !isHardware(each) || work.start <= each.tick() && each.tick() < now;
            if (each.kind() == Fault.Kind.FAIL && due && isFor(each, work)) {
                return IreeException.of(
                        StatusCode.INTERNAL, "operation '%s' failed on purpose".formatted(work.operation.id()));
            }
        }
        return null;
    }
}

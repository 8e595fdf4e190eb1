package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.lab.Scenario.Placement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The assignment of operations to queues of the scheduler.
 *
 * <p>With {@link Placement#LANES} an operation joins a queue only behind an operation followed anyway: the order of the
 * queue adds nothing to the operation's past. The queues of a class of hardware share the lanes. With
 * {@link Placement#QUEUES} there is a queue for each lane.
 */
final class QueuePlan {
    /** The most queues. */
    static final int MAXIMUM_QUEUES = 4096;

    /** The most queues of a device. */
    static final int QUEUES_OF_A_DEVICE = 64;

    /** A planned queue. */
    static final class Planned {
        final int hardware;
        final String id;
        private boolean usesMemory;
        private int last = -1;
        private long load;

        private Planned(int hardware, String id) {
            this.hardware = hardware;
            this.id = id;
        }
    }

    final List<Planned> queues = new ArrayList<>();
    final int[] queueOf; // by operation

    QueuePlan(Scenario scenario, ScenarioGraph graph) {
        List<Hardware> hardware = scenario.hardware();
        Map<String, Integer> classes = new HashMap<>();
        List<List<Integer>> byClass = new ArrayList<>(); // indices into queues
        for (int i = 0; i < hardware.size(); i++) {
            classes.put(hardware.get(i).id(), i);
            byClass.add(new ArrayList<>());
        }
        boolean lanes = scenario.placement() == Placement.LANES;
        for (int i = 0; i < hardware.size() && !lanes; i++) {
            for (int lane = 0; lane < hardware.get(i).lanes(); lane++) {
                byClass.get(i).add(add(i, laneName(hardware.get(i), lane)));
            }
        }
        List<Operation> operations = scenario.operations();
        queueOf = new int[operations.size()];
        for (int each : graph.order()) {
            Operation operation = operations.get(each);
            int its = Objects.requireNonNull(classes.get(operation.hardware()));
            List<Integer> open = byClass.get(its);
            int queue = !lanes && operation.queue() >= 0 ? open.get(operation.queue()) : behind(open, graph, each);
            if (queue < 0 && lanes) {
                queue = add(its, operation.hardware() + ":" + (open.size() + 1));
                open.add(queue);
            } else if (queue < 0) {
                queue = leastLoaded(open);
            }
            queues.get(queue).last = each;
            queues.get(queue).load += operation.duration();
            queues.get(queue).usesMemory |=
                    !operation.allocates().isEmpty() || !operation.frees().isEmpty();
            queueOf[each] = queue;
        }
        for (int i = 0; i < hardware.size(); i++) {
            checkMemory(hardware.get(i), byClass.get(i));
        }
    }

    /** Devices share no memory: all queues using limited memory belong to one device. */
    private void checkMemory(Hardware hardware, List<Integer> its) {
        if (hardware.memory() > 0
                && its.stream().filter(each -> queues.get(each).usesMemory).count() > QUEUES_OF_A_DEVICE) {
            throw invalid(
                    "more than %d independent operations use the memory of hardware '%s'; use placement 'queues', or split the hardware"
                            .formatted(QUEUES_OF_A_DEVICE, hardware.id()));
        }
    }

    /** Returns the queues of a class of hardware; queues using memory are first. */
    List<Planned> queuesOf(int hardware) {
        return queues.stream()
                .filter(each -> each.hardware == hardware)
                .sorted(Comparator.comparing(each -> !each.usesMemory))
                .toList();
    }

    static String laneName(Hardware hardware, int lane) {
        return hardware.lanes() > 1 ? hardware.id() + "_" + lane : hardware.id();
    }

    private int add(int hardware, String id) {
        if (queues.size() == MAXIMUM_QUEUES) {
            throw invalid(
                    "the scenario has more than %d independent operations; use placement 'queues', or split the scenario"
                            .formatted(MAXIMUM_QUEUES));
        }
        queues.add(new Planned(hardware, id));
        return queues.size() - 1;
    }

    /** Returns a queue ending in a predecessor of the operation, preferably an awaited operation; -1 for none. */
    private int behind(List<Integer> open, ScenarioGraph graph, int operation) {
        int found = -1;
        for (int each : open) {
            int last = queues.get(each).last;
            for (int producer : graph.producers(operation)) {
                if (producer == last) {
                    return each;
                }
            }
            if (found < 0 && last >= 0 && graph.before(operation).get(last)) {
                found = each;
            }
        }
        return found;
    }

    private int leastLoaded(List<Integer> open) {
        int best = open.getFirst();
        for (int each : open) {
            if (queues.get(each).load < queues.get(best).load) {
                best = each;
            }
        }
        return best;
    }
}

package io.github.iree4j.lab;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.lab.LabResult.OperationRun;
import io.github.iree4j.lab.LabResult.QueueUse;
import io.github.iree4j.lab.LabResult.SemaphoreState;
import io.github.iree4j.lab.LabRun.Queue;
import io.github.iree4j.lab.LabRun.Work;
import io.github.iree4j.lab.Scenario.Hardware;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads the result from an ended run. */
final class ResultReader {
    /** The most values of timelines in all frontiers of a result. */
    private static final int MAXIMUM_VALUES = 500_000;

    private final LabRun run;
    private final Map<Long, Queue> byAxis = new HashMap<>();
    private final Map<Queue, Map<String, TreeMap<Integer, Long>>> signals = new HashMap<>(); // values by epoch
    private final Map<String, Integer> place = new HashMap<>(); // of each timeline
    private int values; // in the frontiers so far

    ResultReader(LabRun run) {
        this.run = run;
        for (Queue queue : run.queues) {
            byAxis.put(queue.axis(), queue);
            Map<String, TreeMap<Integer, Long>> values = new HashMap<>();
            for (Work each : queue.issued.values()) {
                each.operation.signals().forEach((semaphore, value) -> {
                    TreeMap<Integer, Long> raised = values.computeIfAbsent(semaphore, _ -> new TreeMap<>());
                    long before = raised.isEmpty() ? 0 : raised.lastEntry().getValue();
                    raised.put(each.epoch, Math.max(before, value));
                });
            }
            signals.put(queue, values);
        }
        run.scenario.semaphores().forEach(each -> place.put(each.id(), place.size()));
    }

    LabResult read() {
        List<OperationRun> operations = new ArrayList<>();
        long last = 0;
        for (Work each : run.works) {
            operations.add(read(each));
            last = Math.max(last, each.end);
        }
        Map<String, SemaphoreState> semaphores = new LinkedHashMap<>();
        run.semaphores.forEach((id, semaphore) -> semaphores.put(id, read(semaphore)));
        Invariants invariants = new Invariants(run, byAxis);
        return new LabResult(
                run.scenario,
                last + 1,
                operations,
                Collections.unmodifiableMap(semaphores),
                run.queues.stream().map(this::read).toList(),
                run.memory.events(this::values),
                run.queues.stream().mapToLong(each -> each.counters().waits()).sum(),
                run.queues.stream().mapToLong(each -> each.counters().points()).sum(),
                run.rejections.stream()
                        .filter(Rejection::isMade)
                        .map(each ->
                                new LabResult.Rejected(each.verification.operation.id(), each.draft.operation.id()))
                        .toList(),
                invariants.violations(),
                invariants.collateral());
    }

    private OperationRun read(Work work) {
        Hardware hardware = run.scenario.hardware().get(run.queues.get(run.plan.queueOf[work.index]).hardware);
        Frontier frontier = work.frontier();
        List<WaitDecision> decided = new ArrayList<>();
        Map<String, WaitDecision> waits = new LinkedHashMap<>();
        for (WaitNotes.Noted each : work.noted) {
            decided.addAll(each.isOfMemory ? List.of() : each.decisions());
            each.addTo(waits);
        }
        return new OperationRun(
                work.operation,
                work.issued,
                work.start,
                work.end,
                work.lane < 0 ? "" : QueuePlan.laneName(hardware, work.lane),
                values(frontier),
                entries(frontier),
                frontier.isTainted(),
                LabResult.Decisions.of(decided),
                Collections.unmodifiableMap(waits),
                work.cause == null ? null : work.cause.toString(),
                work.faulted && work.cause != null);
    }

    private SemaphoreState read(TimelineSemaphore semaphore) {
        return new SemaphoreState(
                semaphore.value(),
                values(run.frontierOf(semaphore)),
                semaphore.failure() == null ? null : semaphore.failure().toString());
    }

    private QueueUse read(Queue queue) {
        List<String> operations = new ArrayList<>();
        queue.issued.forEach((epoch, work) -> {
            while (operations.size() < epoch - 1) {
                operations.add(LabResult.MEMORY);
            }
            operations.add(work.operation.id());
        });
        return new QueueUse(
                queue.id, run.scenario.hardware().get(queue.hardware).id(), operations);
    }

    private int place(String timeline) {
        return Objects.requireNonNull(place.get(timeline), timeline);
    }

    /**
     * Returns the timeline values known by a frontier: for each timeline the largest value signalled by an operation of
     * the frontier. Null without more room.
     */
    private @Nullable Map<String, Long> values(Frontier frontier) {
        if (values >= MAXIMUM_VALUES) {
            return null;
        }
        TreeMap<String, Long> known = new TreeMap<>((a, b) -> Integer.compare(place(a), place(b)));
        for (int i = 0; i < frontier.size(); i++) {
            Queue queue = byAxis.get(frontier.axis(i));
            int epoch = (int) frontier.epoch(i);
            if (queue != null) {
                Objects.requireNonNull(signals.get(queue)).forEach((semaphore, raised) -> {
                    Map.Entry<Integer, Long> value = raised.floorEntry(epoch);
                    if (value != null) {
                        known.merge(semaphore, value.getValue(), Math::max);
                    }
                });
            }
        }
        values += known.size();
        return Collections.unmodifiableMap(new LinkedHashMap<>(known));
    }

    private Map<String, Long> entries(Frontier frontier) {
        Map<String, Long> entries = new LinkedHashMap<>();
        for (int i = 0; i < frontier.size(); i++) {
            Queue queue = byAxis.get(frontier.axis(i));
            entries.put(queue == null ? Long.toHexString(frontier.axis(i)) : queue.id, frontier.epoch(i));
        }
        return Collections.unmodifiableMap(entries);
    }
}

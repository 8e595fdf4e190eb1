package io.github.iree4j.lab;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.lab.LabResult.OperationRun;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Counts waits, awaited places, tracking bytes and ordered pairs of a run. */
final class StrategyMetrics {
    /** The queue of operations never issued. */
    private static final int NOWHERE = -1;

    private final LabResult result;
    private final WaitKnowledge knowledge;
    private final List<Operation> operations;
    private final ScenarioGraph graph;
    private final Map<String, Integer> index = new HashMap<>();
    private final int[] queue; // of each operation
    private final int[] epoch; // position in the queue
    private final List<List<Integer>> consumers = new ArrayList<>();

    StrategyMetrics(LabResult result, WaitKnowledge knowledge) {
        this.result = result;
        this.knowledge = knowledge;
        this.operations = result.scenario().operations();
        this.graph = ScenarioGraph.of(operations);
        for (Operation each : operations) {
            index.put(each.id(), index.size());
            consumers.add(new ArrayList<>());
        }
        this.queue = new int[operations.size()];
        Arrays.fill(queue, NOWHERE);
        this.epoch = new int[operations.size()];
        for (int i = 0; i < result.queues().size(); i++) {
            int place = 0;
            for (String each : result.queues().get(i).operations()) {
                place++;
                Integer its = index.get(each);
                if (its != null) { // else memory
                    queue[its] = i;
                    epoch[its] = place;
                }
            }
        }
        for (int i = 0; i < queue.length; i++) {
            for (int producer : graph.producers(i)) {
                consumers.get(producer).add(i);
            }
        }
    }

    Comparison.Way read() {
        LabResult.Decisions decisions = result.decisions();
        return new Comparison.Way(
                knowledge,
                result.finalTick() - 1,
                records(),
                result.nativeWaits(),
                freshWaits(),
                decisions.reached() + decisions.deferred(),
                result.operations().stream()
                        .filter(each -> each.decisions().deferred() > 0)
                        .count(),
                pipelined(),
                trackingBytes(),
                knownOrder(),
                strangers(),
                reuses(LabResult.Reuse.COMPLETED, LabResult.Reuse.KNOWN_BEFORE),
                reuses(LabResult.Reuse.AFTER_WAIT),
                cancelled().count(),
                cancelled().filter(each -> each.start() < 0).count(),
                cancelled()
                        .filter(each -> each.start() >= 0)
                        .mapToLong(each -> each.end() - each.start())
                        .sum(),
                marked(i -> result.operations().get(i).isHit()),
                marked(i -> result.rejections().stream().noneMatch(each -> standsOn(i, each))));
    }

    /** Returns the operations failing because of a rejected draft. */
    private Stream<OperationRun> cancelled() {
        return result.rejections().isEmpty()
                ? Stream.empty()
                : result.operations().stream()
                        .filter(each ->
                                each.failure() != null && each.failure().startsWith(StatusCode.CANCELLED.name()));
    }

    /** Counts operations marked by their frontiers as standing on a rejected draft without verification. */
    private long marked(IntPredicate which) {
        return IntStream.range(0, queue.length)
                .filter(which)
                .filter(i -> result.rejections().stream()
                        .anyMatch(each -> entry(i, each.draft()) >= epoch[at(each.draft())]
                                && entry(i, each.verification()) < epoch[at(each.verification())]))
                .count();
    }

    /** Returns the epoch in an operation's frontier of the queue of another operation. */
    private long entry(int operation, String other) {
        String its = result.queues().get(queue[at(other)]).id();
        return result.operations().get(operation).entries().getOrDefault(its, 0L);
    }

    /** Returns whether an operation is a draft, or is behind the draft by waits or on the draft's queue. */
    private boolean standsOn(int operation, LabResult.Rejected rejected) {
        int draft = at(rejected.draft());
        return IntStream.concat(IntStream.of(operation), graph.before(operation).stream())
                .anyMatch(each -> queue[each] == queue[draft] && epoch[each] >= epoch[draft]);
    }

    private int at(String operation) {
        return Objects.requireNonNull(index.get(operation), operation);
    }

    /** Visits the waits for other queues that the scheduler has not dropped, checked or waited for, in the order of each queue. */
    private void forEachWait(BiConsumer<Integer, Integer> visitor) {
        IntStream.range(0, queue.length)
                .boxed()
                .sorted(Comparator.comparingInt(each -> epoch[each])) // what is before on the same queue comes before
                .forEach(i -> result.operations().get(i).waits().forEach((semaphore, decision) -> {
                    int producer = graph.producer(
                            semaphore,
                            Objects.requireNonNull(operations.get(i).waits().get(semaphore), semaphore));
                    boolean isKept =
                            decision == WaitDecision.REACHED || decision.compareTo(WaitDecision.DEVICE_WAIT) >= 0;
                    if (isKept && queue[i] != NOWHERE && queue[producer] != NOWHERE && queue[producer] != queue[i]) {
                        visitor.accept(i, producer);
                    }
                }));
    }

    private long records() {
        Set<Integer> producers = new HashSet<>();
        forEachWait((_, producer) -> producers.add(producer));
        return producers.size();
    }

    private long freshWaits() {
        Map<List<Integer>, Integer> seen = new HashMap<>(); // by pair of queues
        LongAdder fresh = new LongAdder();
        forEachWait((waiter, producer) -> {
            List<Integer> pair = List.of(queue[waiter], queue[producer]);
            if (seen.getOrDefault(pair, 0) < epoch[producer]) {
                seen.put(pair, epoch[producer]);
                fresh.increment();
            }
        });
        return fresh.sum();
    }

    private long reuses(LabResult.Reuse... ways) {
        return result.memory().stream()
                .filter(each -> List.of(ways).contains(each.block().reuse()))
                .count();
    }

    private long pipelined() {
        long count = 0;
        for (int i = 0; i < queue.length; i++) {
            OperationRun run = result.operations().get(i);
            for (int producer : graph.producers(i)) {
                if (run.issued() >= 0
                        && run.issued() < result.operations().get(producer).end()) {
                    count++;
                    break;
                }
            }
        }
        return count;
    }

    private long trackingBytes() {
        long most = 0;
        for (int i = 0; i < queue.length; i++) {
            List<Integer> users = consumers.get(i).isEmpty() ? List.of(i) : consumers.get(i);
            Set<Object> entries = new HashSet<>();
            for (int user : users) {
                if (knowledge == WaitKnowledge.FRONTIERS) {
                    entries.addAll(result.operations().get(user).entries().keySet());
                } else {
                    entries.add(knowledge == WaitKnowledge.EVENTS ? user : -1 - queue[user]);
                }
            }
            long count = entries.size();
            most = Math.max(
                    most,
                    switch (knowledge) {
                        case EVENTS -> TrackingBytes.events(count);
                        case TIMELINES -> TrackingBytes.points(count);
                        case FRONTIERS -> TrackingBytes.frontier(Math.min(count, Frontier.DEFAULT_CAPACITY));
                    });
        }
        return most;
    }

    private long knownOrder() {
        long pairs = 0;
        for (OperationRun run : result.operations()) {
            for (LabResult.QueueUse each : result.queues()) {
                pairs += each.operations().stream()
                        .limit(run.entries().getOrDefault(each.id(), 0L))
                        .filter(other -> !other.equals(LabResult.MEMORY))
                        .count();
            }
            pairs -= run.entries().isEmpty() ? 0 : 1; // the operation itself
        }
        return pairs;
    }

    /** Counts pairs in the order of queues and waits without a shared timeline of the workloads, directly or not. */
    private long strangers() {
        int[] workload = new int[queue.length];
        for (int i : graph.order()) {
            workload[i] = i;
        }
        for (int i = 0; i < queue.length; i++) {
            for (int producer : graph.producers(i)) {
                workload[root(workload, producer)] = root(workload, i);
            }
        }
        for (int i = 0; i < queue.length; i++) {
            workload[i] = root(workload, i);
        }
        long pairs = 0;
        PartialOrder order = orderOfQueues();
        for (int i = 0; i < queue.length; i++) {
            int its = workload[i];
            pairs += order.before(i).stream()
                    .filter(each -> workload[each] != its)
                    .count();
        }
        return pairs;
    }

    private static int root(int[] parents, int of) {
        int at = of;
        while (parents[at] != at) {
            parents[at] = parents[parents[at]];
            at = parents[at];
        }
        return at;
    }

    /** Returns the order of queues and waits: an operation follows producers, and the operation before on the queue. */
    private PartialOrder orderOfQueues() {
        int[][] predecessors = new int[queue.length][];
        Arrays.setAll(predecessors, graph::producers);
        for (LabResult.QueueUse use : result.queues()) {
            int last = NOWHERE;
            for (String each : use.operations()) {
                Integer its = index.get(each);
                if (its != null) { // else memory
                    if (last != NOWHERE) {
                        predecessors[its] = IntStream.concat(IntStream.of(last), IntStream.of(predecessors[its]))
                                .toArray();
                    }
                    last = its;
                }
            }
        }
        return new PartialOrder(predecessors);
    }
}

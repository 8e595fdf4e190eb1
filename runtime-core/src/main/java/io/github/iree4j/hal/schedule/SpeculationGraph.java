package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.CompletedEpochs;
import io.github.iree4j.status.IreeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Dependency graph of operations, limited to the needs of a {@link SpeculationScope}. Guarded by its monitor; calls no
 * foreign code that blocks.
 *
 * <p>Each operation has two epochs of the draft: the last epoch that the operation stands on, and the last epoch that a
 * preceding verifier stood on. Both are settled when the operation completes, because all predecessors are complete by
 * then. The epochs of live operations are computed on demand.
 */
final class SpeculationGraph {
    /** An operation and its two epochs. */
    static final class Node {
        final QueueScheduler scheduler;

        @Nullable
        QueueOperation operation; // null once complete

        List<Fence.Entry> waits; // empty once complete, like signals
        List<Fence.Entry> signals;
        long draft;
        long verified;

        @Nullable
        IreeException condemned;

        boolean doomed; // waits for a condemned node
        boolean placed; // has an epoch on the draft's queue

        /** Preceding part, for an operation in parts: the step between two parts is no operation, and may not reveal the preceding part. */
        @Nullable
        Node before;

        Node(QueueScheduler scheduler, QueueOperation operation, List<Fence.Entry> waits, List<Fence.Entry> signals) {
            this.scheduler = scheduler;
            this.operation = operation;
            this.waits = waits;
            this.signals = signals;
        }

        boolean ends() {
            return condemned != null || doomed;
        }
    }

    private final CompletedEpochs completed;
    private final long draftAxis;
    private final long verifierAxis;
    private final boolean ordered; // whether the draft's queue is FIFO
    private final Map<QueueOperation, Node> live = new IdentityHashMap<>();
    private final Set<Node> inOrder = new LinkedHashSet<>(); // the live nodes, as submitted
    private final Set<Node> waiting = new LinkedHashSet<>(); // condemned; cancelled once surviving work has signalled
    private final Map<TimelineSemaphore, SpeculationSignals> timelines =
            new WeakHashMap<>(); // completed nodes do not refer to their timelines
    private final Map<OperationParts, Node> lastParts = new WeakHashMap<>(); // completed nodes do not refer to wholes
    private final TreeMap<Long, Long> verifier =
            new TreeMap<>(); // of completed verifications: last draft epoch stood on, by verifier epoch
    private long lastDraft; // the highest epoch seen
    private long draftVerified; // highest verified epoch of the draft's completed operations
    private final SignalRecord found = new SignalRecord();

    SpeculationGraph(CompletedEpochs completed, long draftAxis, long verifierAxis, boolean ordered) {
        this.completed = completed;
        this.draftAxis = draftAxis;
        this.verifierAxis = verifierAxis;
        this.ordered = ordered;
    }

    void add(QueueScheduler scheduler, QueueOperation operation, List<Fence.Entry> waits, List<Fence.Entry> signals) {
        Node node = new Node(scheduler, operation, waits, signals);
        node.before = operation.whole == null ? null : lastParts.put(operation.whole, node);
        live.put(operation, node);
        inOrder.add(node);
        for (Fence.Entry each : signals) {
            timelines
                    .computeIfAbsent(each.semaphore(), unused -> new SpeculationSignals(draftAxis))
                    .declare(each.value(), node);
        }
    }

    /** Settles an operation that has ended; returns whether a condemned operation may have waited for it. */
    boolean over(QueueOperation operation, boolean failed, long accepted) {
        Node node = live.get(operation);
        if (node == null) {
            return false;
        }
        if (!failed) {
            if (dependsOnLive(node)) { // reported before the end of its producer
                solve();
            }
            settle(node, operation, accepted);
        }
        live.remove(operation);
        inOrder.remove(node);
        waiting.remove(node);
        for (Fence.Entry each : node.signals) {
            SpeculationSignals signals = timelines.get(each.semaphore());
            if (signals != null) {
                signals.over(each.semaphore(), each.value(), node, failed, accepted);
            }
        }
        node.operation = null;
        node.waits = List.of();
        node.signals = List.of();
        return !waiting.isEmpty();
    }

    private boolean dependsOnLive(Node node) {
        for (Fence.Entry each : node.waits) {
            Node producer = producer(each);
            if (producer != null && producer.operation != null) {
                return true;
            }
        }
        return false;
    }

    private void settle(Node node, QueueOperation operation, long accepted) {
        relax(node);
        long axis = node.scheduler.axis();
        if (axis == draftAxis) {
            lastDraft = Math.max(lastDraft, operation.epoch());
            node.draft = Math.max(node.draft, operation.epoch());
            if (ordered) {
                node.verified = Math.max(node.verified, draftVerified);
                draftVerified = node.verified;
            }
        } else if (axis == verifierAxis && node.draft > accepted) {
            verifier.put(operation.epoch(), node.draft);
        }
    }

    /** Forgets completed operations that stand on no draft epoch beyond the given epoch. */
    void forget(long epoch) {
        timelines.forEach((timeline, signals) -> signals.forget(timeline, epoch));
        verifier.values().removeIf(draft -> draft <= epoch);
    }

    /** Returns the live operations, in order of submission. */
    List<Node> nodes() {
        return List.copyOf(inOrder);
    }

    /** Size of the graph, in operations and values. */
    int remembered() {
        int values = timelines.values().stream()
                .mapToInt(SpeculationSignals::remembered)
                .sum();
        return live.size() + inOrder.size() + waiting.size() + values + verifier.size();
    }

    /** Condemns operations that stand on the draft from an epoch on without being verified for it; returns the number of operations. */
    int condemn(long from, IreeException cause) {
        solve();
        int count = 0;
        for (Node node : inOrder) {
            if (node.condemned == null && node.draft >= from && node.verified < from) {
                node.condemned = cause;
                waiting.add(node);
                count++;
            }
        }
        return count;
    }

    /** Removes and returns the nodes that can be cancelled now; the others fail when they retire, if issued meanwhile. */
    List<Node> takeReady() {
        markDoomed();
        Set<Node> held = heldBack();
        List<Node> ready = new ArrayList<>();
        for (Node node : waiting) {
            if (node.operation == null || !held.contains(node)) {
                ready.add(node);
            } else if (node.condemned != null) {
                node.operation.fail(node.condemned);
            }
        }
        ready.forEach(waiting::remove);
        return ready;
    }

    List<Node> takeCondemned() {
        List<Node> all = new ArrayList<>(waiting);
        waiting.clear();
        return all;
    }

    /**
     * Returns the nodes that cannot be cancelled yet, because surviving work has yet to signal a lower value of a
     * timeline about to fail. The timeline is signalled by the node, or by an operation that waits for the node and
     * fails with it.
     */
    private Set<Node> heldBack() {
        Map<SpeculationSignals, Long> lowest = new IdentityHashMap<>(); // next value signalled by surviving work
        Set<Node> held = Collections.newSetFromMap(new IdentityHashMap<>());
        ArrayDeque<Node> found = new ArrayDeque<>();
        for (Node node : inOrder) {
            if (node.ends() && isPreceded(node, lowest)) {
                held.add(node);
                found.add(node);
            }
        }
        for (Node node; (node = found.poll()) != null; ) {
            for (Fence.Entry each : node.waits) {
                Node producer = producer(each);
                if (producer != null && producer.operation != null && producer.ends() && held.add(producer)) {
                    found.add(producer);
                }
            }
        }
        return held;
    }

    private boolean isPreceded(Node node, Map<SpeculationSignals, Long> lowest) {
        for (Fence.Entry each : node.signals) {
            SpeculationSignals signals = timelines.get(each.semaphore());
            if (signals != null && lowest.computeIfAbsent(signals, SpeculationSignals::lowestToCome) < each.value()) {
                return true;
            }
        }
        return false;
    }

    private void markDoomed() {
        List<Node> forward = new ArrayList<>(inOrder);
        List<Node> backward = forward.reversed(); // as in solve()
        for (boolean changed = true; changed; ) {
            changed = false;
            for (List<Node> direction : List.of(forward, backward)) {
                for (Node node : direction) {
                    changed |= !node.doomed && waitsForOneThatEnds(node);
                }
            }
        }
    }

    /** Marks a node waiting for a condemned or doomed node; returns whether the node was marked. */
    private boolean waitsForOneThatEnds(Node node) {
        for (Fence.Entry each : node.waits) {
            Node producer = producer(each);
            if (producer != null && producer.operation != null && producer.ends()) {
                node.doomed = true;
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the operation that reaches or has reached a value. The answer is final, regardless of signals declared
     * later. Null where only the timeline knows the producer.
     */
    private @Nullable Node producer(Fence.Entry wait) {
        return producer(wait, wait.semaphore().lookup(wait.value(), found));
    }

    private @Nullable Node producer(Fence.Entry wait, boolean known) {
        SpeculationSignals signals = timelines.get(wait.semaphore());
        if (signals == null) {
            return null;
        }
        return known && found.isReached()
                ? signals.reached(wait.value(), found.value())
                : signals.reaching(wait.value());
    }

    /** Computes the epochs of all live nodes. The epochs only rise, so the computation terminates, even with circular waits. */
    private void solve() {
        List<Node> forward = new ArrayList<>(inOrder);
        List<Node> backward = forward.reversed(); // waits before signals then take few rounds
        List<Node> drafts = begin(forward);
        for (boolean changed = true; changed; ) {
            changed = false;
            for (List<Node> direction : List.of(forward, backward)) {
                for (Node node : direction) {
                    changed |= relax(node);
                }
            }
            long verified = draftVerified;
            for (Node node : drafts) {
                changed |= verified > node.verified;
                node.verified = Math.max(verified, node.verified);
                verified = node.placed ? node.verified : verified; // unplaced operations may come in any order
            }
        }
    }

    /** Places the draft's operations in the order of the draft's queue, if ordered; returns the nodes in this order. */
    private List<Node> begin(List<Node> nodes) {
        if (!ordered) {
            return List.of();
        }
        List<Node> drafts = new ArrayList<>();
        lastDraft = Math.max(lastDraft, completed.completed(draftAxis));
        for (Node node : nodes) {
            QueueOperation operation = node.operation;
            if (operation != null && node.scheduler.axis() == draftAxis) {
                lastDraft = Math.max(lastDraft, operation.epoch());
            }
        }
        for (Node node : nodes) {
            QueueOperation operation = node.operation;
            if (operation != null && node.scheduler.axis() == draftAxis) {
                long epoch = operation.epoch();
                node.placed = epoch > 0;
                node.draft = Math.max(node.draft, node.placed ? epoch : lastDraft + 1);
                drafts.add(node);
            }
        }
        drafts.sort(Comparator.comparingLong(node -> node.draft));
        return drafts;
    }

    /** Raises the epochs of a node to the epochs of its producers; returns whether an epoch has changed. */
    private boolean relax(Node node) {
        long draft = node.draft;
        long verified = node.verified;
        for (Fence.Entry each : node.waits) {
            boolean known = each.semaphore().lookup(each.value(), found);
            Node producer = producer(each, known);
            if (producer != null) {
                draft = Math.max(draft, producer.draft);
                verified = Math.max(verified, producer.verified);
            } else if (known && !isForgotten(each)) {
                draft = Math.max(draft, found.frontier().epochOf(draftAxis));
                verified = Math.max(verified, verifiedAt(found.frontier().epochOf(verifierAxis)));
            }
        }
        Node before = node.before;
        if (before != null) {
            draft = Math.max(draft, before.draft);
            verified = Math.max(verified, before.verified);
            node.before = before.operation == null ? null : before;
        }
        if (node.scheduler.axis() == verifierAxis) {
            verified = Math.max(verified, draft);
        }
        boolean changed = draft > node.draft || verified > node.verified;
        node.draft = draft;
        node.verified = verified;
        return changed;
    }

    private boolean isForgotten(Fence.Entry wait) {
        SpeculationSignals signals = timelines.get(wait.semaphore());
        return signals != null && (signals.isForgotten(wait.value()) || signals.isForgotten(found.value()));
    }

    /** Returns the last draft epoch that the verifier's operations up to a verifier epoch stood on. */
    private long verifiedAt(long epoch) {
        long draft = 0;
        for (long each : verifier.headMap(epoch, true).values()) {
            draft = Math.max(draft, each);
        }
        return draft;
    }
}

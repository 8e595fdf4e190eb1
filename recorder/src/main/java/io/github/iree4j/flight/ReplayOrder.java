package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.RecordedFrontier.Entry;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The order in which a recording is repeated. Records of several threads are in the order of making. This order may
 * differ from the order of the events by the time needed to make a record. Decisions reveal the true order: a value
 * found reached was signalled before, a value found open was not.
 */
final class ReplayOrder {
    /** Kinds of actions in a replay. */
    enum Kind {
        SUBMIT,
        COMPLETE,
        GRANT,
        CANCEL,
        LOST,
        SIGNAL
    }

    /** An action, ordered by key unless others must come first. */
    static final class Action {
        final Kind kind;
        final @Nullable RecordedOperation operation; // null for a signal of the host, and a loss
        final @Nullable Point point; // of a signal of the host
        long key; // twice a sequence number, or 1 more or less
        final long time;

        FlightEvent.@Nullable Lost lost;

        @Nullable
        Action with; // accompanied by this action: not after the effects of the other

        private final List<Action> later = new ArrayList<>();
        private final List<Action> required = new ArrayList<>(); // actions coming before
        private int earlier;

        Action(Kind kind, @Nullable RecordedOperation operation, @Nullable Point point, long key, long time) {
            this.kind = kind;
            this.operation = operation;
            this.point = point;
            this.key = key;
            this.time = time;
        }

        void before(@Nullable Action other) {
            if (other != null && other != this) {
                later.add(other);
                other.required.add(this);
                other.earlier++;
            }
        }

        /** Returns the actions required before. */
        List<Action> required() {
            return required;
        }
    }

    private final OperationGraph graph;
    private final List<RecordedOperation> operations = new ArrayList<>();
    private final int leftOut;
    private final ReplayGaps gaps;
    private final Map<RecordedOperation, Action> submits = new HashMap<>();
    private final Map<RecordedOperation, Action> completes = new HashMap<>();
    private final Set<RecordedOperation> cancelled = new HashSet<>();
    private final Map<Point, Action> signals; // of the host
    private final Map<RecordedOperation, List<RecordedOperation>> grants = new HashMap<>();
    private final TreeSet<Long> changes = new TreeSet<>(); // sequence numbers
    private final TreeMap<Long, FlightEvent.Completed> completions = new TreeMap<>();
    private final List<Action> actions;
    private final CallbackOrder callbacks;
    private final Map<Long, NavigableMap<Long, Long>> ranks = new HashMap<>(); // by axis: epoch -> epoch in the replay
    private final Map<Long, List<RecordedOperation>> ranked = new HashMap<>(); // by axis, as epochs in the replay
    private int reordered;

    ReplayOrder(OperationGraph graph) {
        this.graph = graph;
        long from = graph.recording().header().completeFrom();
        int left = 0;
        for (RecordedOperation each : graph.operations()) {
            if (each.isWhole(from) && hasKnownEpoch(each)) {
                operations.add(each);
            } else {
                left++;
            }
        }
        this.leftOut = left;
        rank();
        this.gaps = new ReplayGaps(graph, this);
        List<Action> all = new ArrayList<>();
        operations.forEach(each -> plan(each, all));
        ReplayHostSignals host = new ReplayHostSignals(graph, gaps, operations);
        this.signals = host.planned();
        for (RecordedOperation each : operations) {
            changes.add(each.submitted.sequence());
            each.decided.stream().skip(1).forEach(decided -> changes.add(decided.sequence()));
            if (each.completed instanceof FlightEvent.Completed completed) {
                changes.add(completed.sequence());
                completions.put(completed.sequence(), completed);
            }
        }
        operations.forEach(each -> planGrant(each, all));
        joinGrants(all);
        all.addAll(signals.values());
        for (FlightEvent.Lost each : graph.losses()) {
            Action loss = new Action(Kind.LOST, null, null, 2 * each.sequence(), each.time());
            loss.lost = each;
            all.add(loss);
        }
        SignallingCompletions signalling = new SignallingCompletions(graph);
        operations.forEach(each -> constrain(each, signalling));
        constrainQueues();
        host.order(all);
        this.actions = sorted(all);
        this.callbacks = new CallbackOrder(graph, operations, signals, submits.values());
    }

    /**
     * Returns whether a replay can give an operation the recorded epoch. An operation of an unordered queue gets the
     * epoch at the end; without a recorded end, the epoch of a completed operation is not known.
     */
    private boolean hasKnownEpoch(RecordedOperation operation) {
        RecordedQueue queue = graph.queue(operation.axis());
        return queue != null && (queue.stream() || operation.completed == null || operation.over != null);
    }

    CallbackOrder callbacks() {
        return callbacks;
    }

    List<RecordedOperation> operations() {
        return operations;
    }

    ReplayGaps gaps() {
        return gaps;
    }

    /** Returns whether an operation failed before being given to the hardware, and not because of a wait. */
    boolean isCancelled(RecordedOperation operation) {
        return cancelled.contains(operation);
    }

    /**
     * Returns whether an operation failed before being given to the hardware. In a replay such an operation waits for
     * the recorded failure, since the cause may not be repeated.
     */
    static boolean isRefused(RecordedOperation operation) {
        return operation.over != null
                && operation.over.status() != StatusCode.OK
                && (operation.completed == null || operation.issued == null);
    }

    int leftOut() {
        return leftOut;
    }

    List<Action> actions() {
        return actions;
    }

    int reordered() {
        return reordered;
    }

    /** Returns the first event recorded after a submission had acquired the lock of the queue. */
    private static FlightEvent decision(RecordedOperation operation) {
        return !operation.decided.isEmpty()
                ? operation.decided.getFirst()
                : operation.held != null
                        ? operation.held
                        : operation.issued != null ? operation.issued : operation.submitted;
    }

    private void plan(RecordedOperation operation, List<Action> all) {
        FlightEvent first = operation.submitted;
        FlightEvent next = decision(operation);
        long time = operation.decided.isEmpty()
                ? first.time()
                : next.time(); // the thread may have been delayed since the begin of the submission
        Action submit = new Action(Kind.SUBMIT, operation, null, 2 * next.sequence(), time);
        submits.put(operation, submit);
        all.add(submit);
        FlightEvent.Completed completed = operation.completed;
        FlightEvent.Over over = operation.over;
        if (completed != null && operation.issued != null) {
            // By then the unrepeated operations holding the signals back have ended.
            long key = over != null
                            && gaps.hasUnknownWait(operation)
                            && graph.hasStrayEnd(completed.sequence(), over.sequence())
                    ? 2 * over.sequence() - 1
                    : 2 * completed.sequence();
            Action complete = new Action(Kind.COMPLETE, operation, null, key, completed.time());
            completes.put(operation, complete);
            submit.before(complete);
            all.add(complete);
        } else if (over != null && isRefused(operation)) {
            Action cancel = new Action(Kind.CANCEL, operation, null, 2 * over.sequence(), over.time());
            if (!failsByItself(operation)) {
                cancelled.add(operation);
            }
            submit.before(cancel);
            all.add(cancel);
        }
    }

    /**
     * Plans the grant of an allocation that stood in line. The allocation got memory by the release of another, or by
     * the end of the memory's last user: other effects of this event came before or after, so the grant belongs to the
     * same action.
     */
    private void planGrant(RecordedOperation operation, List<Action> all) {
        FlightEvent.Reserved reserved = operation.reserved;
        Action submit = submits.get(operation);
        if (reserved == null || submit == null || !isGrantedLater(operation)) {
            return;
        }
        FlightEvent.Released before = graph.memory().earlierUse(reserved.reservation());
        RecordedOperation releaser = before == null ? null : graph.memory().releaser(before.reservation());
        FlightEvent.Issued issued = releaser == null ? null : releaser.issued;
        if (!hasUnknownEnd(operation)
                && releaser != null
                && issued != null
                && !isUnordered(releaser)
                && isAtOnce(issued, reserved)) {
            grants.computeIfAbsent(releaser, unused -> new ArrayList<>()).add(operation);
            return;
        }
        Action grant = new Action(Kind.GRANT, operation, null, 2 * reserved.sequence(), reserved.time());
        submit.before(grant);
        all.add(grant);
        FlightEvent.Completed completed = lastCompletion(reserved.sequence());
        grant.with = completed != null && isAtOnce(completed, reserved) ? completion(completed) : null;
    }

    /**
     * Joins the grants of the same event, such as a release: all were made before the thread resumed the first
     * allocation.
     */
    private void joinGrants(List<Action> all) {
        List<Action> grants = all.stream()
                .filter(each -> each.kind == Kind.GRANT)
                .sorted(Comparator.comparingLong(each -> each.key))
                .toList();
        Action previous = null;
        FlightEvent.Reserved last = null;
        long resumed = Long.MAX_VALUE; // number of the first issue among the joined
        for (Action each : grants) {
            if (each.operation == null || each.operation.reserved == null) {
                continue;
            }
            FlightEvent.Reserved next = each.operation.reserved;
            boolean joins = each.with == null && last != null && next.sequence() < resumed && isAtOnce(last, next);
            each.with = joins ? previous : each.with;
            resumed = Math.min(joins ? resumed : Long.MAX_VALUE, OperationGraph.issueNumber(each.operation));
            previous = each;
            last = next;
        }
    }

    /** Returns whether an allocation gets memory by a later action, not at once on request. */
    boolean isGrantedLater(RecordedOperation operation) {
        return graph.memory().stoodInLine(operation) || operation.held != null && hasUnknownEnd(operation);
    }

    /** Returns whether an operation was held back for anything missing in the recording, and resumed. */
    private boolean hasUnknownEnd(RecordedOperation operation) {
        for (int i = 0; i < operation.waits().size(); i++) {
            if (gaps.isUnknown(operation, i)
                    && operation.decided.size() > 1
                    && operation.decisions().get(i).decision().compareTo(WaitDecision.DEVICE_WAIT) > 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether nothing was submitted, resumed or completed between the two events: both happened before the
     * thread ran callbacks.
     */
    private boolean isAtOnce(FlightEvent cause, FlightEvent effect) {
        Long resumed = changes.higher(cause.sequence());
        return cause.sequence() < effect.sequence() && (resumed == null || resumed > effect.sequence());
    }

    private FlightEvent.@Nullable Completed lastCompletion(long sequence) {
        Map.Entry<Long, FlightEvent.Completed> last = completions.lowerEntry(sequence);
        return last == null ? null : last.getValue();
    }

    private @Nullable Action completion(FlightEvent.Completed completed) {
        RecordedOperation operation = graph.operation(completed.operation());
        return operation == null ? null : completes.get(operation);
    }

    /** Returns the allocations granted memory when a releasing operation of a stream is issued. */
    List<RecordedOperation> grants(RecordedOperation releaser) {
        return grants.getOrDefault(releaser, List.of());
    }

    private boolean isUnordered(RecordedOperation operation) {
        RecordedQueue queue = graph.queue(operation.axis());
        return queue != null && !queue.stream();
    }

    /** Returns whether an operation fails because a wait of the operation failed. */
    private boolean failsByItself(RecordedOperation operation) {
        for (int i = 0; i < operation.waits().size(); i++) {
            RecordedOperation producer = graph.producer(operation, i);
            if (producer != null && producer.status() != StatusCode.OK && !operation.isOverBefore(producer)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the waits of an operation in a replay, a point for each recorded wait. A wait for anything missing in the
     * recording is ended by the host, at the recorded end.
     */
    List<Point> waits(RecordedOperation operation) {
        List<Point> waits = new ArrayList<>(operation.waits());
        for (int i = 0; i < waits.size(); i++) {
            if (gaps.isUnknown(operation, i)) {
                waits.set(i, unknown(operation, i));
            }
        }
        return waits;
    }

    /** Returns a point of a timeline without recorded use: for a wait, or as the signal of an operation without signals. */
    static Point unshared(RecordedOperation operation, int number) {
        return new Point(-(operation.number() * 2 * RecordingObserver.MAXIMUM_POINTS + number), 1);
    }

    /** Returns a point of a timeline without recorded use, for a wait for anything missing in the recording. */
    static Point unknown(RecordedOperation operation, int wait) {
        return unshared(operation, wait + 1);
    }

    /** Constrains the order by the decisions about the waits of an operation. */
    private void constrain(RecordedOperation operation, SignallingCompletions signalling) {
        Action submit = submits.get(operation);
        List<Decision> decisions = operation.decisions();
        for (int i = 0; submit != null && i < decisions.size(); i++) {
            Decision decision = decisions.get(i);
            RecordedOperation producer = gaps.isUnknown(decision) ? null : graph.producer(operation, i);
            if (producer == null) {
                Action signal = signals.get(new Point(operation.waits().get(i).timeline(), decision.value()));
                if (signal != null && decision.decision() == WaitDecision.REACHED) {
                    signal.before(submit);
                }
                continue;
            }
            Action complete = completes.get(signalling.of(producer));
            boolean deferred = producer.decided.size() > 1 || producer.held != null || producer.issued == null;
            // The submission, if the producer promises at once; an unordered queue promises nothing.
            Action issue = deferred || isUnordered(producer) ? null : submits.get(producer);
            if (decision.decision() == WaitDecision.REACHED) {
                if (complete != null) {
                    complete.before(submit);
                }
                continue;
            }
            if (complete != null
                    && complete.key < submit.key
                    && (complete != completes.get(producer) || graph.lateWait(producer) >= 0)) {
                continue; // submitted in a callback before the producer ended in another callback
            }
            submit.before(complete);
            // the completion was recorded before the producer had signalled
            if (complete != null && complete.key < submit.key) {
                complete.key = submit.key + 1;
            }
            if (decision.decision() != WaitDecision.DEFERRED_UNKNOWN && issue != null && isKnown(producer, decision)) {
                issue.before(submit);
            } else if (decision.decision() == WaitDecision.DEFERRED_UNKNOWN) {
                submit.before(issue);
            }
        }
    }

    /**
     * Returns whether an operation was issued when a decision was made; the operation may be the producer by a later
     * decision only.
     */
    private static boolean isKnown(RecordedOperation producer, Decision decision) {
        return decision.epoch() > 0 && decision.axis() == producer.axis() && producer.epoch() <= decision.epoch();
    }

    /**
     * Constrains the order on each queue: decisions and retirements under the lock of a stream are in the order of the
     * records; on an unordered queue epochs are in order.
     */
    private void constrainQueues() {
        Map<Long, List<Action>> byAxis = new HashMap<>();
        for (RecordedOperation each : operations) {
            RecordedQueue queue = graph.queue(each.axis());
            Action submit = submits.get(each);
            Action complete = completes.get(each);
            List<Action> all = byAxis.computeIfAbsent(each.axis(), unused -> new ArrayList<>());
            if (queue != null && queue.stream() && submit != null) {
                all.add(submit);
            }
            if (complete != null) {
                all.add(complete);
            }
        }
        byAxis.forEach((axis, all) -> {
            RecordedQueue queue = graph.queue(axis);
            if (queue != null && queue.stream()) {
                retireInOrder(all);
            }
            all.sort(
                    queue != null && queue.stream()
                            ? Comparator.comparingLong((Action action) -> action.key)
                            : Comparator.comparingLong(
                                    (Action action) -> action.operation == null ? 0 : action.operation.epoch()));
            for (int i = 1; i < all.size(); i++) {
                all.get(i - 1).before(all.get(i));
                all.get(i).with = isSameReport(all.get(i - 1), all.get(i)) ? all.get(i - 1) : null;
            }
        });
    }

    private static void retireInOrder(List<Action> all) {
        long last = 0;
        all.sort(Comparator.comparingLong(action -> action.operation == null ? 0 : action.operation.epoch()));
        for (Action each : all) {
            if (each.kind == Kind.COMPLETE) {
                each.key = Math.max(each.key, last);
                last = each.key;
            }
        }
    }

    /** Returns whether the host observed both completions at once: the second before signalling for the first. */
    private static boolean isSameReport(Action first, Action second) {
        FlightEvent.Over over =
                first.operation == null || first.operation.isEndedByHost() ? null : first.operation.over;
        return first.kind == Kind.COMPLETE
                && second.kind == Kind.COMPLETE
                && over != null
                && second.key < 2 * over.sequence();
    }

    private List<Action> sorted(List<Action> all) {
        PriorityQueue<Action> ready = new PriorityQueue<>(Comparator.comparingLong((Action action) -> action.key));
        List<Action> left = new ArrayList<>(all);
        left.sort(Comparator.comparingLong((Action action) -> action.key));
        left.stream().filter(action -> action.earlier == 0).forEach(ready::add);
        List<Action> result = new ArrayList<>(all.size());
        Set<Action> done = new HashSet<>();
        int next = 0;
        while (result.size() < all.size()) {
            Action action = ready.poll();
            if (action == null) { // contradictory constraints: of a recording with other defects
                while (done.contains(left.get(next))) {
                    next++;
                }
                action = left.get(next);
                reordered++;
            }
            if (!done.add(action)) {
                continue;
            }
            result.add(action);
            for (Action each : action.later) {
                if (--each.earlier == 0 && !done.contains(each)) {
                    ready.add(each);
                }
            }
        }
        return result;
    }

    // ---- Epochs: a replay's epochs begin at 1.

    private void rank() {
        Map<Long, TreeMap<Long, RecordedOperation>> byAxis = new HashMap<>();
        for (RecordedOperation each : operations) {
            if (each.epoch() > 0) {
                byAxis.computeIfAbsent(each.axis(), axis -> new TreeMap<>()).put(each.epoch(), each);
            }
        }
        byAxis.forEach((axis, all) -> {
            NavigableMap<Long, Long> rank = new TreeMap<>();
            all.keySet().forEach(epoch -> rank.put(epoch, rank.size() + 1L));
            ranks.put(axis, rank);
            ranked.put(axis, List.copyOf(all.values()));
        });
    }

    /** Returns the epoch of a replay implying a recorded epoch; 0 for an epoch before the recording. */
    long rank(long axis, long epoch) {
        NavigableMap<Long, Long> rank = ranks.get(axis);
        Map.Entry<Long, Long> known = rank == null ? null : rank.floorEntry(epoch);
        return known == null ? 0 : known.getValue();
    }

    /** Returns the operation at an epoch of the replay; null for none. */
    @Nullable
    RecordedOperation ranked(long axis, long rank) {
        List<RecordedOperation> all = ranked.getOrDefault(axis, List.of());
        return rank < 1 || rank > all.size() ? null : all.get((int) rank - 1);
    }

    /** Returns a recorded frontier with the epochs of the replay, without entries missing in the recording. */
    RecordedFrontier translated(RecordedFrontier frontier) {
        List<Entry> entries = new ArrayList<>();
        for (Entry each : frontier.entries()) {
            long epoch = rank(each.axis(), each.epoch());
            if (epoch > 0) {
                entries.add(new Entry(each.axis(), epoch));
            }
        }
        return new RecordedFrontier(entries, frontier.producer(), frontier.tainted());
    }
}

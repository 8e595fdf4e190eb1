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
 * The order in which a recording is repeated. Records of several threads are in the order in which they were made, which may differ from
 * the order in which things happened by the time that it takes to make one. What was decided tells the true order: a value found reached
 * was signalled before, one found open was not.
 */
final class ReplayOrder {
    /** What happens in a replay. */
    enum Kind {
        SUBMIT,
        COMPLETE,
        GRANT,
        CANCEL,
        LOST,
        SIGNAL
    }

    /** One thing that happens, in the order of its key unless others must come first. */
    static final class Action {
        final Kind kind;
        final @Nullable RecordedOperation operation; // null for a signal of the host, and a loss
        final @Nullable Point point; // of a signal of the host
        long key; // twice a sequence number, or one more or less
        final long time;

        FlightEvent.@Nullable Lost lost;

        @Nullable
        Action with; // a completion with which it came, not after what that caused

        private final List<Action> later = new ArrayList<>();
        private final List<Action> required = new ArrayList<>(); // come before
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

        /** What must happen before. */
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
    private final Map<Point, Action> signals = new HashMap<>(); // of the host
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
            if (each.submitted.sequence() >= from && hasKnownEpoch(each)) {
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
        for (RecordedOperation each : operations) {
            changes.add(each.submitted.sequence());
            each.decided.stream().skip(1).forEach(decided -> changes.add(decided.sequence()));
            if (each.completed instanceof FlightEvent.Completed completed) {
                changes.add(completed.sequence());
                completions.put(completed.sequence(), completed);
            }
        }
        operations.forEach(each -> planGrant(each, all));
        all.addAll(signals.values());
        for (FlightEvent.Lost each : graph.losses()) {
            Action loss = new Action(Kind.LOST, null, null, 2 * each.sequence(), each.time());
            loss.lost = each;
            all.add(loss);
        }
        operations.forEach(this::constrain);
        constrainQueues();
        this.actions = sorted(all);
        this.callbacks = new CallbackOrder(graph, operations, signals, submits.values());
    }

    /**
     * Whether a replay can give an operation the epoch that it had. An operation of an unordered queue gets its epoch when it ends; of one whose end the recording
     * lacks, though the operation completed, the epoch is not known.
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

    /** Whether an operation failed before it was given to the hardware, and not because of a wait. */
    boolean isCancelled(RecordedOperation operation) {
        return cancelled.contains(operation);
    }

    /** Whether an operation failed before it was given to the hardware. In a replay it waits for that, since the cause may not be repeated. */
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

    /** What was recorded once a submission had the lock of its queue. */
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
                : next.time(); // its thread may have been held up since it began
        Action submit = new Action(Kind.SUBMIT, operation, null, 2 * next.sequence(), time);
        submits.put(operation, submit);
        all.add(submit);
        FlightEvent.Completed completed = operation.completed;
        FlightEvent.Over over = operation.over;
        if (completed != null && operation.issued != null) {
            // What holds its signals back, and is not repeated, is over by then.
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
        hostSignals(operation);
    }

    /**
     * An allocation that stood in line got memory by the release of another, or by the end of its last user: what that caused otherwise came
     * before or after, so the grant belongs to the same action.
     */
    private void planGrant(RecordedOperation operation, List<Action> all) {
        FlightEvent.Reserved reserved = operation.reserved;
        Action submit = submits.get(operation);
        if (reserved == null || submit == null || !isGrantedLater(operation)) {
            return;
        }
        FlightEvent.Released before = graph.earlierUse(reserved.reservation());
        RecordedOperation releaser = before == null ? null : graph.releaser(before.reservation());
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

    /** Whether an allocation gets its memory by a thing that happens, not as soon as it is asked for. */
    boolean isGrantedLater(RecordedOperation operation) {
        return graph.stoodInLine(operation) || operation.held != null && hasUnknownEnd(operation);
    }

    /** Whether it was held back for something that the recording lacks, and resumed. */
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

    /** Whether nothing was submitted, resumed or completed between the two, so that they happened before the thread ran its callbacks. */
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

    /** Who gets memory when an operation of a stream that releases some is issued. */
    List<RecordedOperation> grants(RecordedOperation releaser) {
        return grants.getOrDefault(releaser, List.of());
    }

    private boolean isUnordered(RecordedOperation operation) {
        RecordedQueue queue = graph.queue(operation.axis());
        return queue != null && !queue.stream();
    }

    /** Whether a wait of an operation failed, so that the operation does. */
    private boolean failsByItself(RecordedOperation operation) {
        for (int i = 0; i < operation.waits().size(); i++) {
            RecordedOperation producer = graph.producer(operation, i);
            if (producer != null && producer.status() != StatusCode.OK) {
                return true;
            }
        }
        return false;
    }

    /**
     * What an operation waits for in a replay, as many points as it has waits. Where one is for something that the recording lacks, the host
     * ends it when it ended then.
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

    /** A point of a timeline that nothing recorded uses: for a wait, or for what an operation that signals nothing signals. */
    static Point unshared(RecordedOperation operation, int number) {
        return new Point(-(operation.number() * 2 * RecordingObserver.MAXIMUM_POINTS + number), 1);
    }

    private static Point unknown(RecordedOperation operation, int wait) {
        return unshared(operation, wait + 1);
    }

    /** Values that were found reached without an operation that signalled them: the host did, before that or before a wait for them ended. */
    private void hostSignals(RecordedOperation operation) {
        for (int i = 0; i < operation.waits().size(); i++) {
            FlightEvent end = gaps.isUnknown(operation, i) ? endOfWait(operation, i) : null;
            if (end != null) {
                hostSignal(unknown(operation, i), end);
            }
        }
        for (FlightEvent.Decided decided : operation.decided) {
            for (int i = 0; i < decided.decisions().size(); i++) {
                Decision decision = decided.decisions().get(i);
                long timeline = operation.waits().get(i).timeline();
                if (decision.decision() == WaitDecision.REACHED
                        && decision.value() > 0
                        && !gaps.isUnknown(operation, i)
                        && graph.producer(operation, i) == null) {
                    FlightEvent.WaitOver over = operation.waitOver(i, decided);
                    if (over != null) {
                        hostSignal(new Point(timeline, operation.waits().get(i).value()), over);
                    }
                    hostSignal(new Point(timeline, decision.value()), decided);
                }
            }
        }
    }

    /** The first event at which a wait did not hold an operation back; null when it always did. */
    private static @Nullable FlightEvent endOfWait(RecordedOperation operation, int wait) {
        for (FlightEvent.Decided decided : operation.decided) {
            if (decided.decisions().get(wait).decision().compareTo(WaitDecision.DEVICE_WAIT) <= 0) {
                FlightEvent.WaitOver over = operation.waitOver(wait, decided);
                return over == null ? decided : over;
            }
        }
        return operation.waitsOver.stream()
                .filter(over -> over.index() == wait)
                .findFirst()
                .orElse(null);
    }

    /** The host signalled a point before an event, if not earlier. */
    private void hostSignal(Point point, FlightEvent before) {
        Action known = signals.get(point);
        long key = 2 * before.sequence() - 1;
        if (known == null || known.key > key) {
            signals.put(point, new Action(Kind.SIGNAL, null, point, key, before.time()));
        }
    }

    /** What the decisions about the waits of an operation say about the order. */
    private void constrain(RecordedOperation operation) {
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
            Action complete = signalling(producer);
            boolean deferred = producer.decided.size() > 1 || producer.held != null || producer.issued == null;
            // Where it promises as soon as it is submitted; an unordered queue promises nothing.
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
                continue; // made in a callback before the producer ended in another
            }
            submit.before(complete);
            if (complete != null && complete.key < submit.key) { // recorded before it had signalled
                complete.key = submit.key + 1;
            }
            if (decision.decision() != WaitDecision.DEFERRED_UNKNOWN && decision.epoch() > 0 && issue != null) {
                issue.before(submit);
            } else if (decision.decision() == WaitDecision.DEFERRED_UNKNOWN) {
                submit.before(issue);
            }
        }
    }

    /**
     * The completion with which an operation signalled: its own, or a later one of what it ends after, the operation before it on its stream
     * and those that its hardware had waited for.
     */
    private @Nullable Action signalling(RecordedOperation operation) {
        RecordedOperation last = operation;
        for (RecordedOperation next = operation; next != null; ) {
            last = next;
            next = null;
            for (RecordedOperation each : graph.endsAfter(last)) {
                next = isCompletedAfter(each, next == null ? last : next) ? each : next;
            }
        }
        return completes.get(last);
    }

    private static boolean isCompletedAfter(RecordedOperation operation, RecordedOperation other) {
        return operation.completed != null
                && other.completed != null
                && operation.completed.sequence() > other.completed.sequence();
    }

    /** What is decided and retired with the lock of a stream is in the order of its records; on an unordered queue epochs are in order. */
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

    /** Whether the host learnt of both at once: of the second before it had signalled for the first. */
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
            if (action == null) { // constraints that contradict each other: of a recording with other defects
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

    // ---- Epochs: those of a replay begin at 1.

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

    /** The epoch of a replay that implies a recorded one; 0 when that is before the recording. */
    long rank(long axis, long epoch) {
        NavigableMap<Long, Long> rank = ranks.get(axis);
        Map.Entry<Long, Long> known = rank == null ? null : rank.floorEntry(epoch);
        return known == null ? 0 : known.getValue();
    }

    /** The operation at an epoch of the replay; null for none. */
    @Nullable
    RecordedOperation ranked(long axis, long rank) {
        List<RecordedOperation> all = ranked.getOrDefault(axis, List.of());
        return rank < 1 || rank > all.size() ? null : all.get((int) rank - 1);
    }

    /** A recorded frontier with the epochs of the replay, without what is not in the recording. */
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

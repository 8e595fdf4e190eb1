package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.RecordedFrontier.Entry;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a recording, and the dependencies of each: the signals of other operations, the earlier operations
 * of the stream, the users of the memory.
 *
 * <p>The hardware ends an operation before the host observes the end, and may report several ends together. Operations
 * known to run after an operation therefore bound its end: {@link #end} is the earliest time by which the host observed
 * the end of the operation or of a successor, or the successor on the stream began. Immutable.
 */
public final class OperationGraph {
    private final FlightRecording recording;
    private final Map<Long, RecordedOperation> operations = new LinkedHashMap<>(); // by number, as submitted
    private final Map<Entry, RecordedOperation> byEpoch = new HashMap<>();
    private final Map<Long, Signallers> signallers = new HashMap<>(); // by timeline
    private final Map<Long, NavigableMap<Long, RecordedOperation>> streams = new HashMap<>(); // by axis and epoch
    private final RecordedMemory memory;
    private final Map<RecordedOperation, Long> ends = new HashMap<>();
    private final Dependencies dependencies;
    private final Map<Long, RecordedQueue> queues = new HashMap<>();
    private final List<RecordedFrontier> strays = new ArrayList<>();
    private final TreeSet<Long> strayEnds = new TreeSet<>(); // sequence numbers
    private final Map<Long, Long> strayCompletions = new HashMap<>(); // by number
    private final Map<Entry, Long> missingEnds = new HashMap<>(); // of operations without a recorded submission
    private final List<FlightEvent.Lost> losses = new ArrayList<>();
    private long takenAt;

    /**
     * Reads the operations of a recording.
     *
     * @param recording the recording
     */
    public OperationGraph(FlightRecording recording) {
        this.recording = recording;
        this.memory = new RecordedMemory(recording.pools());
        this.takenAt = recording.header().taken();
        recording.queues().forEach(queue -> queues.put(queue.axis(), queue));
        recording.events().forEach(this::read);
        sortUnrecorded();
        Map<Long, NavigableMap<Long, RecordedOperation>> byPoint = new HashMap<>(); // by timeline and value
        for (RecordedOperation each : operations.values()) {
            long epoch = each.epoch();
            if (epoch > 0) {
                byEpoch.putIfAbsent(new Entry(each.axis(), epoch), each);
                if (isStream(each.axis())) {
                    streams.computeIfAbsent(each.axis(), axis -> new TreeMap<>())
                            .putIfAbsent(epoch, each);
                }
            }
            for (Point point : each.signals()) {
                byPoint.computeIfAbsent(point.timeline(), timeline -> new TreeMap<>())
                        .merge(point.value(), each, (first, second) -> signaller(first, second, point));
            }
        }
        byPoint.forEach((timeline, byValue) -> signallers.put(timeline, new Signallers(timeline, byValue)));
        List<RecordedOperation> issued = operations.values().stream()
                .filter(each -> each.issued != null)
                .sorted(Comparator.comparingLong(OperationGraph::issueNumber).reversed())
                .toList();
        issued.forEach(each -> ends.put(each, each.completedAt()));
        // Predecessors were issued before an operation: the operation's end is final here, before bounding other ends.
        for (RecordedOperation each : issued) {
            long end = end(each);
            predecessors(each).forEach(before -> bound(before, end));
            RecordedOperation previous = previous(each);
            if (previous != null && issueNumber(previous) < issueNumber(each)) {
                bound(previous, each.beganAt()); // waits of a GPU may be open when an operation begins
            }
            if (isStream(each.axis())) {
                bound(before(new Entry(each.axis(), each.epoch())), Math.min(end, each.beganAt()));
            }
        }
        missingEnds.keySet().stream()
                .filter(each -> isStream(each.axis()))
                .sorted(Comparator.comparingLong(Entry::epoch).reversed())
                .toList()
                .forEach(each -> bound(before(each), missingEnds.getOrDefault(each, Long.MAX_VALUE)));
        this.dependencies = new Dependencies(this, issued, missingEnds);
    }

    private void bound(RecordedOperation before, long time) {
        ends.computeIfPresent(before, (unused, known) -> Math.min(known, time));
    }

    private void bound(Entry missing, long time) {
        missingEnds.computeIfPresent(missing, (unused, known) -> Math.min(known, time));
    }

    static Entry entry(Decision decision) {
        return new Entry(decision.axis(), decision.epoch());
    }

    static Entry before(Entry onStream) {
        return new Entry(onStream.axis(), onStream.epoch() - 1);
    }

    /** Puts operations without a recorded submission in place, by time. */
    private void sortUnrecorded() {
        List<RecordedOperation> unrecorded = operations.values().stream()
                .filter(each -> !each.isRecorded())
                .sorted(Comparator.comparingLong(RecordedOperation::submittedAt))
                .toList();
        if (unrecorded.isEmpty()) {
            return;
        }
        unrecorded.forEach(each -> operations.remove(each.number()));
        List<RecordedOperation> recorded = List.copyOf(operations.values());
        operations.clear();
        int next = 0;
        for (RecordedOperation each : recorded) {
            while (next < unrecorded.size() && unrecorded.get(next).submittedAt() <= each.submittedAt()) {
                operations.put(unrecorded.get(next).number(), unrecorded.get(next++));
            }
            operations.put(each.number(), each);
        }
        unrecorded.subList(next, unrecorded.size()).forEach(each -> operations.put(each.number(), each));
    }

    /**
     * Returns the operation that signalled a value, as far as known: the completed operation, or else the operation
     * waiting for the lower value of the timeline, or else the operation submitted first.
     */
    private static RecordedOperation signaller(RecordedOperation first, RecordedOperation second, Point point) {
        if (first.completed != null) {
            return first;
        }
        return second.completed != null || second.awaits(point.timeline()) < first.awaits(point.timeline())
                ? second
                : first;
    }

    static long issueNumber(RecordedOperation operation) {
        return operation.issued == null ? Long.MAX_VALUE : operation.issued.sequence();
    }

    private void read(FlightEvent event) {
        takenAt = Math.max(takenAt, event.time());
        switch (event) {
            case FlightEvent.Submitted submitted ->
                operations.putIfAbsent(submitted.operation(), new RecordedOperation(submitted, true));
            case FlightEvent.Open open -> {
                FlightEvent.Submitted submission = open.submission();
                operations.putIfAbsent(submission.operation(), new RecordedOperation(submission, false));
                of(submission.operation(), operation -> {
                    operation.openAt = open.sequence();
                    operation.before = open.before();
                    operation.reached = open.reached();
                });
            }
            case FlightEvent.Decided decided -> {
                RecordedOperation operation = operations.get(decided.operation());
                if (operation != null
                        && decided.decisions().size() == operation.waits().size()) {
                    operation.decided.add(decided);
                }
            }
            case FlightEvent.WaitOver over ->
                of(over.operation(), operation -> {
                    if (over.index() < operation.waits().size()) {
                        operation.waitsOver.add(over);
                    }
                });
            case FlightEvent.Held held -> of(held.operation(), operation -> operation.held = held);
            case FlightEvent.Issued issued -> {
                if (!operations.containsKey(issued.operation())) {
                    strays.add(issued.frontier());
                }
                of(issued.operation(), operation -> {
                    operation.issued = operation.issued == null ? issued : operation.issued;
                    if (issued.reservation() != 0) {
                        memory.issued(operation, issued.reservation());
                    }
                });
            }
            case FlightEvent.Began began ->
                of(began.operation(), operation -> operation.began = Math.min(operation.began, began.time()));
            case FlightEvent.Completed completed -> {
                if (!operations.containsKey(completed.operation())) {
                    strayCompletions.put(completed.operation(), completed.time());
                }
                of(completed.operation(), operation -> {
                    operation.completed = operation.completed == null ? completed : operation.completed;
                });
            }
            case FlightEvent.Over over -> {
                if (!operations.containsKey(over.operation())) {
                    strays.add(over.frontier());
                    strayEnds.add(over.sequence());
                    missingEnds.put(
                            new Entry(
                                    over.frontier().producer(), over.frontier().producerEpoch()),
                            strayCompletions.getOrDefault(over.operation(), over.time()));
                }
                of(over.operation(), operation -> operation.over = operation.over == null ? over : operation.over);
            }
            case FlightEvent.Reserved reserved -> memory.read(reserved);
            case FlightEvent.Released released -> memory.read(released);
            case FlightEvent.InLine line -> memory.read(line);
            case FlightEvent.PoolsHold pools -> memory.read(pools);
            case FlightEvent.ReleasedUnseen released -> memory.read(released);
            case FlightEvent.Lost lost -> losses.add(lost);
            case FlightEvent.MorePoints more -> of(more.operation(), operation -> operation.more = more);
            case FlightEvent.Call _,
                    FlightEvent.MoreOpen _,
                    FlightEvent.NamedTimeline _,
                    FlightEvent.Dispatches _,
                    FlightEvent.Dispatched _ -> {} // for explanations alone
        }
    }

    private void of(long number, java.util.function.Consumer<RecordedOperation> action) {
        RecordedOperation operation = operations.get(number);
        if (operation != null) { // else submitted before the recording begins
            action.accept(operation);
        }
    }

    /**
     * Returns the recording.
     *
     * @return the recording
     */
    public FlightRecording recording() {
        return recording;
    }

    /**
     * Returns the operations.
     *
     * @return in the order of submission
     */
    public List<RecordedOperation> operations() {
        return List.copyOf(operations.values());
    }

    /**
     * Returns an operation.
     *
     * @param number its number
     * @return the operation; null when not recorded
     */
    public @Nullable RecordedOperation operation(long number) {
        return operations.get(number);
    }

    /** Returns the frontiers of operations issued, or ended, after the recording began, and submitted before. */
    List<RecordedFrontier> strays() {
        return List.copyOf(strays);
    }

    /** Returns whether an operation submitted before the recording began ended between two records. */
    boolean hasStrayEnd(long after, long before) {
        Long next = strayEnds.higher(after);
        return next != null && next < before;
    }

    /** Returns the losses of devices, a record for each queue. */
    List<FlightEvent.Lost> losses() {
        return List.copyOf(losses);
    }

    /**
     * Returns the operation at an epoch.
     *
     * @param axis the queue
     * @param epoch the epoch
     * @return the operation; null when not recorded
     */
    public @Nullable RecordedOperation at(long axis, long epoch) {
        return byEpoch.get(new Entry(axis, epoch));
    }

    /**
     * Returns the queue of an axis.
     *
     * @param axis the axis
     * @return the queue; null when no operation of the queue was recorded
     */
    public @Nullable RecordedQueue queue(long axis) {
        return queues.get(axis);
    }

    boolean isStream(long axis) {
        RecordedQueue queue = queues.get(axis);
        return queue != null && queue.stream();
    }

    /** Returns the record of an operation's promise; of the completion, for an operation without promises. */
    @Nullable
    FlightEvent promise(RecordedOperation operation) {
        return isPromising(operation) ? operation.issued : operation.completed;
    }

    /** Whether an operation promised signals with the issue: a queue without order promises nothing. */
    boolean isPromising(RecordedOperation operation) {
        return operation.issued != null && isStream(operation.axis());
    }

    /** Returns the memory of the recording. */
    RecordedMemory memory() {
        return memory;
    }

    /**
     * Returns the latest possible end of an operation: when the host observed this end, or the end of a successor, or
     * when the next operation on the stream began.
     *
     * @param operation the operation
     * @return the time; {@link RecordedOperation#NEVER} when the operation did not end, or failed without a run
     */
    public long end(RecordedOperation operation) {
        return ends.getOrDefault(operation, RecordedOperation.NEVER);
    }

    /** Returns when an operation ended or failed, perhaps without having been issued; NEVER when the end is not known. */
    long endOrFailure(RecordedOperation operation) {
        long end = end(operation);
        return end == RecordedOperation.NEVER ? operation.overAt() : end;
    }

    /** Returns when the recording was taken; not before the last record. */
    long takenAt() {
        return takenAt;
    }

    /**
     * Returns whether an operation had ended, with success or not, when the recording was taken.
     *
     * @param operation the operation
     * @return {@link Known#UNKNOWN} when the end may be among the missing records, or after the last record of an
     *     operation that has run: such an operation may have failed
     */
    public Known hasEnded(RecordedOperation operation) {
        if (operation.over != null) {
            return Known.YES;
        }
        if (operation.openAt >= recording.header().completeFrom()) { // else a later record of the end may be missing
            return Known.NO;
        }
        return hasRunUnlisted(operation) || !isWhole(operation) ? Known.UNKNOWN : Known.NO;
    }

    /** Whether an operation without a recorded end has run, and was not listed as open: the recording ends in between. */
    boolean hasRunUnlisted(RecordedOperation operation) {
        return operation.over == null
                && operation.openAt < 0
                && end(operation) != RecordedOperation.NEVER
                && !operation.isEndedByHost();
    }

    /**
     * Whether all records of an operation are there, up to the end: none was overwritten, or without room in the file.
     */
    boolean isWhole(RecordedOperation operation) {
        return operation.over == null
                ? operation.isRecorded() && isCompleteFrom(operation.submitted)
                : operation.isWhole(recording.header().completeFrom()); // a file drops the last records
    }

    /** Whether all records from an event on are there. */
    boolean isCompleteFrom(FlightEvent event) {
        return event.sequence() >= recording.header().completeFrom() && !mayLackLater();
    }

    /** Whether records of later operations may be missing: the file was full, or has no end. */
    boolean mayLackLater() {
        return recording.header().dropped() > 0;
    }

    /**
     * Returns the conditions for the begin of an operation.
     *
     * @param operation an issued operation
     * @return its submission first
     */
    public List<Dependency> dependencies(RecordedOperation operation) {
        return dependencies.of(operation);
    }

    /**
     * Returns the dependency available last, which allowed the operation to begin.
     *
     * @param operation an issued operation
     * @return the dependency; of several at the same time the first, or one whose operation has no records; null when the
     *     operation was not issued
     */
    public @Nullable Dependency decisive(RecordedOperation operation) {
        return dependencies.decisive(operation);
    }

    // ---- Predecessors of an operation.

    /**
     * Returns the operations that have signalled when an operation signals: the signallers of the waits, and the
     * previous operation on the stream.
     */
    List<RecordedOperation> endsAfter(RecordedOperation operation) {
        List<RecordedOperation> all = new ArrayList<>();
        for (int i = 0; i < operation.waits().size(); i++) {
            add(all, producer(operation, i));
        }
        add(all, previous(operation));
        return all;
    }

    List<RecordedOperation> predecessors(RecordedOperation operation) {
        List<RecordedOperation> all = endsAfter(operation);
        FlightEvent.Reserved memory = operation.reserved;
        if (memory != null) {
            for (Entry each : memory.death().entries()) {
                add(all, at(each.axis(), each.epoch()));
            }
            for (Entry each : memory.marks()) {
                add(all, at(each.axis(), each.epoch()));
            }
        }
        all.removeIf(before -> issueNumber(before) >= issueNumber(operation)); // of a damaged file
        return all;
    }

    private static void add(List<RecordedOperation> all, @Nullable RecordedOperation operation) {
        if (operation != null) {
            all.add(operation);
        }
    }

    /**
     * Returns the operation that signals the lowest value reaching a point, and does not itself wait for the point; null for
     * the host, and for an unrecorded operation.
     */
    @Nullable
    RecordedOperation signaller(Point point) {
        return signallers.getOrDefault(point.timeline(), Signallers.NONE).atLeast(point.value());
    }

    /** Whether a signaller of a value reaching a point has run. */
    boolean isPassed(Point point) {
        return signallers.getOrDefault(point.timeline(), Signallers.NONE).isPassed(point.value());
    }

    /**
     * Returns the operation ending a wait by a signal, now or later; null for a signal of the host.
     *
     * @param operation the waiting operation
     * @param index of the wait
     * @return the operation; null when the host signalled, or an unrecorded operation
     */
    public @Nullable RecordedOperation producer(RecordedOperation operation, int index) {
        Point point = operation.waits().get(index);
        List<Decision> decisions = operation.lastDecisions();
        if (index >= decisions.size() || decisions.get(index).decision() == WaitDecision.DEFERRED_UNKNOWN) {
            return signaller(point);
        }
        Decision decision = decisions.get(index);
        RecordedOperation forgotten = signallers
                .getOrDefault(point.timeline(), Signallers.NONE)
                .forgotten(point.value(), decision, operation.decided.getLast());
        if (forgotten != null) {
            return forgotten;
        }
        RecordedOperation found = signaller(new Point(point.timeline(), Math.max(point.value(), decision.value())));
        // An open operation has no epoch where the record of the issue is missing.
        boolean isListed = found != null && found.axis() == decision.axis() && found.epoch() == 0;
        return !isListed && (decision.epoch() > 0 || decision.decision() == WaitDecision.REACHED)
                ? signaller(decision)
                : found;
    }

    /** Whether a wait is ended by the signal of an operation with missing records, as a decision found. */
    boolean isProducerMissing(RecordedOperation operation, int index) {
        List<Decision> decisions = operation.lastDecisions();
        return producer(operation, index) == null && index < decisions.size() && isMissing(entry(decisions.get(index)));
    }

    boolean isMissing(Entry entry) {
        return entry.epoch() > 0 && !byEpoch.containsKey(entry);
    }

    /**
     * Returns the operation of the signal or promise found by a decision; null for a signal of the host, and for an
     * unrecorded operation.
     */
    @Nullable
    RecordedOperation signaller(Decision decision) {
        RecordedOperation found = decision.epoch() == 0 ? null : at(decision.axis(), decision.epoch());
        return found == null || found.isEndedByHost() ? null : found;
    }

    /**
     * Returns the wait that held back the end of an operation already run, because the host observed the end of the
     * awaited operation afterwards; -1 for none.
     */
    int lateWait(RecordedOperation operation) {
        if (operation.isEndedByHost()) {
            return -1;
        }
        int last = -1;
        long ended = operation.completed == null ? Long.MAX_VALUE : operation.completed.sequence();
        for (int i = 0; operation.over != null && i < operation.lastDecisions().size(); i++) {
            RecordedOperation producer = producer(operation, i);
            if (producer != null
                    && producer.completed != null
                    && producer.over != null
                    && producer.over.sequence() > ended
                    && producer.over.sequence() < operation.over.sequence()) {
                ended = producer.over.sequence();
                last = i;
            }
        }
        return last;
    }

    /** Returns the previous operation on the same stream; null for the first operation, and on an unordered queue. */
    private @Nullable RecordedOperation previous(RecordedOperation operation) {
        NavigableMap<Long, RecordedOperation> stream = streams.get(operation.axis());
        Map.Entry<Long, RecordedOperation> before = stream == null ? null : stream.lowerEntry(operation.epoch());
        return before == null ? null : before.getValue();
    }
}

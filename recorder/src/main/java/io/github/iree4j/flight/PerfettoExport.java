package io.github.iree4j.flight;

import io.github.iree4j.flight.Dependency.Kind;
import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Track events for Perfetto: a process for each device, a track for each queue, more where operations of an unordered
 * queue overlap, and a counter for the memory of each pool. Dispatches with times are slices within the operation's
 * slice; a dispatch overlapping an earlier dispatch of the operation is on a track beside the queue's. An operation
 * that failed before the turn is a slice from the submission to the failure. An open operation is a slice without an
 * end, from the submission on, or, if run already, from its turn on; an operation with an unknown end is left out, and
 * counted. Flows are only the direct waits, no more than {@link #MAXIMUM_FLOWS}, and others are counted: thousands of
 * flows stall Perfetto's UI.
 */
final class PerfettoExport {
    /** The most flows written; the longest waits are kept. */
    static final int MAXIMUM_FLOWS = 5000;

    /**
     * The most slices without an end, and of operations without a run, each on a separate track; the oldest are kept.
     */
    static final int MAXIMUM_OPEN = 100;

    // Fields of the messages of the schema.
    private static final int TRACE_PACKET = 1;
    private static final int PACKET_TIMESTAMP = 8;
    private static final int PACKET_SEQUENCE = 10;
    private static final int PACKET_EVENT = 11;
    private static final int PACKET_TRACK = 60;
    private static final int TRACK_UUID = 1;
    private static final int TRACK_NAME = 2;
    private static final int TRACK_PROCESS = 3;
    private static final int TRACK_PARENT = 5;
    private static final int TRACK_COUNTER = 8;
    private static final int PROCESS_PID = 1;
    private static final int PROCESS_NAME = 6;
    private static final int COUNTER_UNIT = 3;
    private static final int COUNTER_UNIT_BYTES = 3;
    private static final int EVENT_ANNOTATION = 4;
    private static final int EVENT_TYPE = 9;
    private static final int EVENT_TRACK = 11;
    private static final int EVENT_NAME = 23;
    private static final int EVENT_COUNTER = 30;
    private static final int EVENT_FLOW = 47;
    private static final int EVENT_FLOW_END = 48;
    private static final int ANNOTATION_UINT = 3;
    private static final int ANNOTATION_STRING = 6;
    private static final int ANNOTATION_NAME = 10;
    private static final int BEGIN = 1;
    private static final int END = 2;
    private static final int INSTANT = 3;
    private static final int COUNTER = 4;

    private final OperationGraph graph;
    private final Explanation explanation;
    private final List<Packet> packets = new ArrayList<>();
    private final Map<String, Long> devices = new LinkedHashMap<>();
    private final Map<Long, List<Lane>> lanes = new HashMap<>(); // by axis
    private final Map<Long, List<Lane>> overlaps = new HashMap<>(); // of dispatches, by axis
    private long nextTrack = 1;

    private record Packet(long time, ProtoWriter content) {}

    /** A track, and the end of the last operation. */
    private static final class Lane {
        final long track;
        long end;

        Lane(long track) {
            this.track = track;
        }
    }

    private record Slice(RecordedOperation operation, long begin, long end) {}

    private record Flow(RecordedOperation from, RecordedOperation to, long waited) {}

    PerfettoExport(OperationGraph graph) {
        this.graph = graph;
        this.explanation = new Explanation(graph);
    }

    void write(OutputStream target) throws IOException {
        List<Slice> slices = new ArrayList<>();
        int open = 0;
        int waited = 0;
        int unknown = 0;
        for (RecordedOperation each : graph.operations()) { // in the order of submission
            long end = graph.end(each);
            switch (graph.hasEnded(each)) {
                case YES -> {
                    if (end != RecordedOperation.NEVER) {
                        slices.add(new Slice(each, end - explanation.times(each).running(), end));
                    } else if (waited++ < MAXIMUM_OPEN) { // failed before the turn, or lacks the records of the run
                        slices.add(new Slice(each, Math.min(each.submittedAt(), each.overAt()), each.overAt()));
                    }
                }
                case NO -> {
                    if (open++ < MAXIMUM_OPEN) { // if run already, drawn from the turn on, behind the waits
                        long begin = end == RecordedOperation.NEVER
                                ? each.submittedAt()
                                : end - explanation.times(each).running();
                        slices.add(new Slice(each, begin, RecordedOperation.NEVER));
                    }
                }
                case UNKNOWN -> unknown++;
            }
        }
        Set<RecordedOperation> drawn = new HashSet<>();
        slices.forEach(each -> drawn.add(each.operation));
        Map<RecordedOperation, List<Long>> starting = new HashMap<>();
        Map<RecordedOperation, List<Long>> ending = new HashMap<>();
        long id = 1;
        List<Flow> flows = flows(drawn);
        for (Flow flow : flows.subList(0, Math.min(flows.size(), MAXIMUM_FLOWS))) {
            starting.computeIfAbsent(flow.from, unused -> new ArrayList<>()).add(id);
            ending.computeIfAbsent(flow.to, unused -> new ArrayList<>()).add(id++);
        }
        // A flow ends behind the beginning: of slices at the same time the first done comes first, then the first
        // issued.
        slices.sort(Comparator.comparingLong(Slice::begin)
                .thenComparingLong(each -> graph.end(each.operation)) // also of an open operation
                .thenComparingLong(each -> OperationGraph.issueNumber(each.operation)));
        for (Slice each : slices) {
            add(each, starting.getOrDefault(each.operation, List.of()), ending.getOrDefault(each.operation, List.of()));
        }
        memory();
        leftOut(open - MAXIMUM_OPEN, "operations that have not ended");
        leftOut(waited - MAXIMUM_OPEN, "operations that ended without a record of their run");
        leftOut(unknown, "operations not known to have ended");
        leftOut(flows.size() - MAXIMUM_FLOWS, "waits without a flow: the shortest");
        packets.sort(Comparator.comparingLong(Packet::time)); // stable: an end stays before a begin at the same time
        for (Packet each : packets) {
            target.write(new ProtoWriter().message(TRACE_PACKET, each.content).toBytes());
        }
    }

    /** Returns the waits of drawn operations for each other, without waits implied by others; the longest first. */
    private List<Flow> flows(Set<RecordedOperation> drawn) {
        List<Flow> all = new ArrayList<>();
        for (RecordedOperation each : graph.operations()) {
            if (graph.end(each) == RecordedOperation.NEVER) {
                continue;
            }
            List<Decision> decisions = each.lastDecisions();
            for (int i = 0; i < decisions.size(); i++) {
                WaitDecision decision = decisions.get(i).decision();
                RecordedOperation producer = graph.producer(each, i);
                boolean implied = decision == WaitDecision.ELIDED_FIFO
                        || decision == WaitDecision.ELIDED_FRONTIER
                        || decision == WaitDecision.COVERED;
                if (!implied && producer != null && graph.end(producer) != RecordedOperation.NEVER) {
                    all.add(new Flow(producer, each, graph.end(producer) - each.submittedAt()));
                }
            }
            for (Dependency dependency : graph.dependencies(each)) {
                RecordedOperation before = dependency.before();
                if (dependency.kind() == Kind.MEMORY
                        && before != null
                        && graph.end(before) != RecordedOperation.NEVER) {
                    all.add(new Flow(before, each, graph.end(before) - each.submittedAt()));
                }
            }
        }
        all.removeIf(each -> !drawn.contains(each.from) || !drawn.contains(each.to));
        all.sort(Comparator.comparingLong(Flow::waited).reversed());
        return all;
    }

    private void add(Slice slice, List<Long> starting, List<Long> ending) {
        RecordedOperation operation = slice.operation;
        long track = track(operation.axis(), slice);
        Explanation.Times times = explanation.times(operation);
        ProtoWriter event = new ProtoWriter()
                .number(EVENT_TYPE, BEGIN)
                .number(EVENT_TRACK, track)
                .text(
                        EVENT_NAME,
                        operation.function().isEmpty()
                                ? operation.name()
                                : operation.name() + " " + operation.function());
        note(event, "operation", operation.number());
        note(event, "call", operation.call());
        note(event, "epoch", operation.epoch());
        note(event, "waits for", explanation.openCalls().describe(operation.waits()));
        note(event, "signals", explanation.openCalls().describe(operation.submitted.signals()));
        if (!operation.refusals().isEmpty()) {
            note(event, "refused signals", explanation.openCalls().describe(operation.refusedSignals()));
        }
        note(event, "waiting_ns", times.waiting());
        note(event, "memory_ns", times.memory());
        note(event, "queue_ns", times.queue());
        note(event, "frontier", operation.frontier().toString());
        long untimed = explanation.dispatches().untimed(operation);
        if (untimed > 0) {
            note(event, "dispatches without a slice", untimed);
        }
        if (operation.status() != StatusCode.OK) {
            note(event, "failure", operation.status() + ": " + operation.failure());
        }
        starting.forEach(id -> event.fixed(EVENT_FLOW, id));
        ending.forEach(id -> event.fixed(EVENT_FLOW_END, id));
        packet(slice.begin, event);
        dispatches(slice, track);
        if (slice.end != RecordedOperation.NEVER) {
            packet(slice.end, new ProtoWriter().number(EVENT_TYPE, END).number(EVENT_TRACK, track));
        }
    }

    /** Adds the dispatches of an operation, on the operation's track unless overlapping. */
    private void dispatches(Slice slice, long track) {
        long free = slice.begin;
        for (RecordedDispatches.Row each : explanation.dispatches().of(slice.operation)) {
            if (!each.state().isTimed()) {
                continue;
            }
            long begin = Math.clamp(each.begin(), slice.begin, slice.end);
            long end = Math.clamp(each.end(), slice.begin, slice.end);
            boolean follows = begin >= free;
            long own = follows ? track : overlap(slice.operation.axis(), begin, end);
            free = follows ? end : free;
            ProtoWriter event = new ProtoWriter()
                    .number(EVENT_TYPE, BEGIN)
                    .number(EVENT_TRACK, own)
                    .text(EVENT_NAME, each.export());
            note(event, "workgroups", each.workgroups().toString());
            note(event, "workers", each.workers());
            note(event, "state", each.state().name());
            packet(begin, event);
            packet(end, new ProtoWriter().number(EVENT_TYPE, END).number(EVENT_TRACK, own));
        }
    }

    /** Returns a track beside a queue's tracks, free at the beginning of a dispatch. */
    private long overlap(long axis, long begin, long end) {
        List<Lane> all = overlaps.computeIfAbsent(axis, unused -> new ArrayList<>());
        return lane(all, axis, begin, end, "dispatches at once");
    }

    private static void note(ProtoWriter event, String name, long value) {
        event.message(
                EVENT_ANNOTATION,
                new ProtoWriter().number(ANNOTATION_UINT, value).text(ANNOTATION_NAME, name));
    }

    private static void note(ProtoWriter event, String name, String value) {
        event.message(
                EVENT_ANNOTATION,
                new ProtoWriter().text(ANNOTATION_STRING, value).text(ANNOTATION_NAME, name));
    }

    private void packet(long time, ProtoWriter event) {
        packets.add(new Packet(
                time,
                new ProtoWriter()
                        .number(PACKET_TIMESTAMP, time)
                        .number(PACKET_SEQUENCE, 1)
                        .message(PACKET_EVENT, event)));
    }

    /** Returns a track of the queue, free at the beginning of an operation. */
    private long track(long axis, Slice slice) {
        List<Lane> all = lanes.computeIfAbsent(axis, unused -> new ArrayList<>());
        return lane(all, axis, slice.begin, slice.end, "");
    }

    private long lane(List<Lane> all, long axis, long begin, long end, String what) {
        for (Lane lane : all) {
            if (lane.end <= begin) {
                lane.end = end;
                return lane.track;
            }
        }
        RecordedQueue queue = graph.queue(axis);
        String device = queue == null ? "unknown" : queue.device();
        Lane lane = new Lane(nextTrack++);
        lane.end = end;
        all.add(lane);
        describe(new ProtoWriter()
                .number(TRACK_UUID, lane.track)
                .text(
                        TRACK_NAME,
                        "queue %d%s%s"
                                .formatted(
                                        queue == null ? 0 : queue.index(),
                                        what.isEmpty() ? "" : ", " + what,
                                        all.size() == 1 ? "" : " (%d)".formatted(all.size())))
                .number(TRACK_PARENT, process(device)));
        return lane.track;
    }

    private long process(String device) {
        Long known = devices.get(device);
        if (known != null) {
            return known;
        }
        long track = nextTrack++;
        devices.put(device, track);
        describe(new ProtoWriter()
                .number(TRACK_UUID, track)
                .message(
                        TRACK_PROCESS,
                        new ProtoWriter().number(PROCESS_PID, devices.size()).text(PROCESS_NAME, device)));
        return track;
    }

    private void describe(ProtoWriter track) {
        packets.add(new Packet(-1, new ProtoWriter().number(PACKET_SEQUENCE, 1).message(PACKET_TRACK, track)));
    }

    /**
     * Says how many operations have no slice, or waits no flow, by a mark at the end of the recording, on a separate
     * track.
     */
    private void leftOut(int count, String what) {
        if (count <= 0) {
            return;
        }
        long track = nextTrack++;
        describe(new ProtoWriter().number(TRACK_UUID, track).text(TRACK_NAME, "left out"));
        packet(
                graph.takenAt(),
                new ProtoWriter()
                        .number(EVENT_TYPE, INSTANT)
                        .number(EVENT_TRACK, track)
                        .text(EVENT_NAME, "%d %s".formatted(count, what)));
    }

    /** Counts the memory held: since the recorder was opened, or, without the first records, the memory reserved since the records are complete. */
    private void memory() {
        Map<Integer, Long> tracks = new HashMap<>();
        Map<Integer, Long> bytes = new HashMap<>();
        Set<Integer> known = new HashSet<>(); // sets with all memory known
        List<FlightEvent> events = graph.recording().events().stream()
                .filter(graph::isCompleteFrom)
                .toList();
        for (FlightEvent event : events) {
            if (event instanceof FlightEvent.PoolsHold pools && !pools.taken()) {
                known.add(pools.set());
            }
        }
        for (FlightEvent event : events) {
            switch (event) {
                case FlightEvent.PoolsHold pools
                when !pools.taken() ->
                    pools.pools().forEach(each -> {
                        bytes.put(each.pool(), each.bytes());
                        count(each.pool(), 0, event.time(), known, tracks, bytes);
                    });
                case FlightEvent.Reserved reserved ->
                    count(reserved.pool(), reserved.length(), event.time(), known, tracks, bytes);
                case FlightEvent.ReleasedUnseen released
                when known.contains(graph.memory().set(released.pool())) ->
                    count(released.pool(), -released.bytes(), event.time(), known, tracks, bytes);
                case FlightEvent.Released released
                when graph.memory().reservation(released.reservation()) instanceof FlightEvent.Reserved reserved
                        && graph.isCompleteFrom(reserved) ->
                    count(reserved.pool(), -reserved.length(), event.time(), known, tracks, bytes);
                default -> {}
            }
        }
    }

    private void count(
            int pool, long change, long time, Set<Integer> known, Map<Integer, Long> tracks, Map<Integer, Long> bytes) {
        long track = tracks.computeIfAbsent(pool, unused -> {
            long created = nextTrack++;
            RecordedPool of = graph.recording().pools().get(pool);
            String remark = known.contains(of.set()) ? "" : ", without earlier memory";
            describe(new ProtoWriter()
                    .number(TRACK_UUID, created)
                    .text(TRACK_NAME, "memory of pool %s (%d)%s".formatted(of.name(), of.set(), remark))
                    .message(TRACK_COUNTER, new ProtoWriter().number(COUNTER_UNIT, COUNTER_UNIT_BYTES)));
            return created;
        });
        long now = bytes.merge(pool, change, Long::sum);
        packet(
                time,
                new ProtoWriter()
                        .number(EVENT_TYPE, COUNTER)
                        .number(EVENT_TRACK, track)
                        .number(EVENT_COUNTER, now));
    }
}

package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.flight.FlightEvent;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.FlightRecording;
import io.github.iree4j.flight.OperationGraph;
import io.github.iree4j.flight.RecordedFrontier;
import io.github.iree4j.flight.RecordedOperation;
import io.github.iree4j.flight.RecordedPool;
import io.github.iree4j.flight.RecordedQueue;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.status.Known;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A page of the flight recorder's records.
 *
 * @param cursor value of {@code since} for the next page
 * @param start opening time of the recorder; times are nanoseconds since then
 * @param completeFrom number below which the ring has dropped some or all records, also where this page begins later;
 *     above {@code since} where records of this page are missing
 * @param more whether there are more records by now
 * @param queues the recorded queues
 * @param pools the recorded pools, to which records refer by index
 * @param events oldest first
 * @param open the operations that have not ended, however long ago they were submitted; in the last page only
 * @param calls the calls in progress, as for {@code open}
 * @param timelines the named timelines of the operations of this page, and of these operations and calls
 */
public record RecordingDescriptor(
        long cursor,
        Instant start,
        long completeFrom,
        boolean more,
        List<Queue> queues,
        List<RecordedPool> pools,
        List<Event> events,
        List<Open> open,
        List<FlightEvent.Call> calls,
        List<FlightEvent.NamedTimeline> timelines)
        implements OperationResponseBody {

    private static final int MOST_EVENTS = 10_000;

    /**
     * A queue.
     *
     * @param axis of the queue, as used by records
     * @param name device and index
     * @param machine index of the device's machine
     * @param stream whether the queue runs operations in order
     */
    public record Queue(String axis, String name, int machine, boolean stream) {}

    /**
     * A record.
     *
     * @param number sequence number
     * @param time nanoseconds since the recorder was opened
     * @param kind for example {@code submitted}
     * @param values the fields of the kind
     */
    public record Event(long number, long time, String kind, Map<String, Object> values) {}

    /**
     * An operation that has not ended.
     *
     * @param submitted nanoseconds since the recorder was opened; 0 for a submission before
     * @param values the fields of the submission; {@code before} tells whether the submission was before the recorder was
     *     opened: {@code YES}, {@code NO}, or {@code UNKNOWN} for an operation executed in parts
     */
    public record Open(long submitted, Map<String, Object> values) {}

    static RecordingDescriptor of(FlightRecorder recorder, long since) {
        FlightRecording page = recorder.since(since, MOST_EVENTS);
        FlightRecording.Header header = page.header();
        List<Event> events = page.events().stream()
                .filter(each -> each.sequence() < header.next()) // others are of the moment of the recording
                .map(RecordingDescriptor::event)
                .toList();
        boolean more = events.size() == MOST_EVENTS;
        return new RecordingDescriptor(
                header.next(),
                header.start(),
                Math.min(header.completeFrom(), recorder.statistics().completeFrom()), // the page's is not below since
                more,
                page.queues().stream().map(RecordingDescriptor::queue).toList(),
                page.pools(),
                events,
                more ? List.of() : open(page), // a later page may have the end
                some(page, FlightEvent.Call.class).toList(),
                List.copyOf(some(page, FlightEvent.NamedTimeline.class)
                        .collect(Collectors.toMap(
                                FlightEvent.NamedTimeline::timeline,
                                each -> each,
                                (earlier, later) -> later,
                                LinkedHashMap::new))
                        .values()));
    }

    private static <T extends FlightEvent> Stream<T> some(FlightRecording page, Class<T> kind) {
        return page.events().stream().filter(kind::isInstance).map(kind::cast);
    }

    private static List<Open> open(FlightRecording page) {
        OperationGraph graph = new OperationGraph(page);
        return graph.operations().stream()
                .filter(each -> graph.hasEnded(each) == Known.NO)
                .map(RecordingDescriptor::open)
                .toList();
    }

    private static Open open(RecordedOperation operation) {
        Map<String, Object> values = new LinkedHashMap<>();
        put(values, operation.submission());
        values.put("before", operation.before().name());
        return new Open(operation.submittedAt(), values);
    }

    private static Queue queue(RecordedQueue queue) {
        return new Queue(
                Axis.toString(queue.axis()),
                queue.device() + "/" + queue.index(),
                DeviceInfo.machine(queue.device(), queue.axis()),
                queue.stream());
    }

    private static Event event(FlightEvent event) {
        Map<String, Object> values = new LinkedHashMap<>();
        String kind = switch (event) {
            case FlightEvent.Submitted e -> {
                put(values, e);
                yield "submitted";
            }
            case FlightEvent.Decided e -> {
                values.put("operation", e.operation());
                values.put("decisions", list(e.decisions(), RecordingDescriptor::decision));
                yield "decided";
            }
            case FlightEvent.WaitOver e -> {
                values.put("operation", e.operation());
                values.put("wait", e.index());
                yield "wait-over";
            }
            case FlightEvent.Held e -> {
                values.put("operation", e.operation());
                values.put("bytes", e.bytes());
                yield "held";
            }
            case FlightEvent.Issued e -> {
                values.put("operation", e.operation());
                values.put("reservation", e.reservation());
                values.put("frontier", frontier(e.frontier()));
                yield "issued";
            }
            case FlightEvent.Began e -> {
                values.put("operation", e.operation());
                yield "began";
            }
            case FlightEvent.Completed e -> {
                values.put("operation", e.operation());
                yield "completed";
            }
            case FlightEvent.Over e -> {
                values.put("operation", e.operation());
                values.put("status", e.status().name());
                values.put("message", e.message());
                values.put("frontier", frontier(e.frontier()));
                if (e.refused() != null) { // else of a file that does not know
                    values.put("refused", list(e.refused(), RecordingDescriptor::refusal));
                }
                yield "over";
            }
            case FlightEvent.Reserved e -> {
                values.put("reservation", e.reservation());
                values.put("pool", e.pool());
                values.put("size", e.size());
                values.put("length", e.length());
                values.put("slab", e.slab());
                values.put("offset", e.offset());
                values.put("reuse", e.reuse().name());
                values.put("persistent", e.persistent());
                values.put("consumer", e.consumer());
                values.put("call", e.call());
                values.put("function", e.function());
                values.put("death", frontier(e.death()));
                yield "reserved";
            }
            case FlightEvent.Released e -> {
                values.put("reservation", e.reservation());
                values.put("death", frontier(e.death()));
                yield "released";
            }
            case FlightEvent.ReleasedUnseen e -> {
                values.put("pool", e.pool());
                values.put("bytes", e.bytes());
                yield "released-unseen";
            }
            case FlightEvent.PoolsHold e -> {
                values.put("set", e.set());
                values.put("limit", e.limit());
                values.put("pools", e.pools());
                values.put("consumers", e.consumers());
                yield "pools-hold";
            }
            case FlightEvent.InLine e -> {
                values.put("pool", e.pool());
                values.put("bytes", e.bytes());
                values.put("consumer", e.consumer());
                values.put("call", e.call());
                values.put("function", e.function());
                yield "in-line";
            }
            case FlightEvent.Dispatches e -> {
                values.put("operation", e.operation());
                values.put("timed", e.timed());
                values.put("count", e.count());
                values.put("dispatches", list(e.dispatches(), RecordingDescriptor::dispatch));
                yield "dispatches";
            }
            case FlightEvent.Dispatched e -> {
                values.put("operation", e.operation());
                values.put("index", e.index());
                values.put("begin", e.begin());
                values.put("workers", e.workers());
                values.put("outcome", e.outcome().name());
                values.put("workgroups", e.workgroups());
                yield "dispatched";
            }
            case FlightEvent.Lost e -> {
                values.put("queue", Axis.toString(e.axis()));
                values.put("status", e.status().name());
                values.put("message", e.message());
                yield "lost";
            }
            case FlightEvent.NamedTimeline e -> {
                values.put("timeline", e.timeline());
                values.put("name", e.name());
                yield "timeline";
            }
            case FlightEvent.Open _, FlightEvent.Call _, FlightEvent.MoreOpen _, FlightEvent.MorePoints _ ->
                throw new IllegalArgumentException("listed apart: " + event);
        };
        return new Event(event.sequence(), event.time(), kind, values);
    }

    private static void put(Map<String, Object> values, FlightEvent.Submitted submission) {
        values.put("operation", submission.operation());
        values.put("queue", Axis.toString(submission.axis()));
        values.put("name", submission.name());
        values.put("call", submission.call());
        values.put("function", submission.function());
        values.put("waits", points(submission.waits()));
        values.put("signals", points(submission.signals()));
    }

    private static Object refusal(FlightEvent.Refusal refusal) {
        return Map.of(
                "timeline", refusal.point().timeline(),
                "value", refusal.point().value(),
                "reached", refusal.reached());
    }

    private static <T> List<Object> list(List<T> all, Function<T, Object> each) {
        return all.stream().map(each).collect(Collectors.toList());
    }

    private static List<Object> points(List<FlightEvent.Point> points) {
        return list(points, point -> Map.of("timeline", point.timeline(), "value", point.value()));
    }

    private static Object dispatch(FlightEvent.Dispatch dispatch) {
        return Map.of("export", dispatch.export(), "workgroups", dispatch.workgroups());
    }

    private static Object decision(FlightEvent.Decision decision) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("decision", decision.decision().name());
        values.put("value", decision.value());
        if (decision.epoch() > 0) {
            values.put("queue", Axis.toString(decision.axis()));
            values.put("epoch", decision.epoch());
        }
        return values;
    }

    /** Returns epochs by axis; with an entry {@code tainted} when some were lost. */
    private static Map<String, Object> frontier(RecordedFrontier frontier) {
        Map<String, Object> entries = new LinkedHashMap<>();
        frontier.entries().forEach(entry -> entries.put(Axis.toString(entry.axis()), entry.epoch()));
        if (frontier.tainted()) {
            entries.put("tainted", true);
        }
        return entries;
    }
}

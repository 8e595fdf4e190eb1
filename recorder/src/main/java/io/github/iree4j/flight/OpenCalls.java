package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/** The calls in progress when a recording was taken, and the names of timelines. Immutable. */
final class OpenCalls {
    private static final int MOST_POINTS = 20;

    private final List<FlightEvent.Call> calls = new ArrayList<>(); // oldest first
    private final Map<Long, FlightEvent.Call> byNumber = new HashMap<>();
    private final Map<Long, String> timelines = new HashMap<>();

    OpenCalls(FlightRecording recording) {
        for (FlightEvent each : recording.events()) {
            switch (each) {
                case FlightEvent.Call call -> {
                    calls.add(call);
                    byNumber.put(call.call(), call);
                }
                case FlightEvent.NamedTimeline named -> timelines.put(named.timeline(), named.name());
                default -> {} // of operations and memory
            }
        }
        calls.sort(Comparator.comparingLong(FlightEvent.Call::age).reversed());
    }

    int size() {
        return calls.size();
    }

    /** Returns the program of a call in progress; empty for other calls. */
    String program(long number) {
        FlightEvent.Call call = byNumber.get(number);
        return call == null ? "" : call.program();
    }

    /** Returns the nanoseconds since a call in progress began; 0 for other calls. */
    long age(long number) {
        FlightEvent.Call call = byNumber.get(number);
        return call == null ? 0 : call.age();
    }

    /** Returns whether a call was in progress. */
    boolean contains(long number) {
        return byNumber.containsKey(number);
    }

    /** Describes a point, for example {@code timeline 6 'upload-finished' at 1}; empty for none. */
    String describe(@Nullable Point point) {
        if (point == null) {
            return "";
        }
        String name = timelines.get(point.timeline());
        return name == null
                ? point.toString()
                : "timeline %d '%s' at %d".formatted(point.timeline(), name, point.value());
    }

    /** Describes points, at most 20. */
    String describe(List<Point> points) {
        StringJoiner all = new StringJoiner(", ");
        points.stream().limit(MOST_POINTS).map(this::describe).forEach(all::add);
        return points.size() <= MOST_POINTS
                ? all.toString()
                : all + " and %d more".formatted(points.size() - MOST_POINTS);
    }

    /** Returns whether the timeline of a point has a name, other than the call of a function. */
    boolean isNamed(Point point, String function) {
        String name = timelines.get(point.timeline());
        return name != null && !name.equals("call of '" + function + "'");
    }

    /**
     * A point awaited by a call.
     *
     * @param point for people
     * @param signaller the operation to signal the point; null for nobody in the recording
     */
    record Awaited(String point, @Nullable RecordedOperation signaller) {}

    /** A call in progress, with the points awaited. */
    record Waiting(FlightEvent.Call call, List<Awaited> waits) {}

    /** Returns the oldest calls, the oldest first. */
    List<Waiting> waiting(OperationGraph graph, int most) {
        return calls.stream().limit(most).map(call -> waiting(graph, call)).toList();
    }

    private Waiting waiting(OperationGraph graph, FlightEvent.Call call) {
        return new Waiting(
                call,
                call.waits().stream()
                        .map(point -> new Awaited(describe(point), graph.signaller(point)))
                        .toList());
    }

    /** Returns a call in words, for example {@code call 7 of module.add of program 'add', before inputs}. */
    static String title(FlightEvent.Call call) {
        return "call %d of %s of program '%s', %s".formatted(call.call(), call.function(), call.program(), state(call));
    }

    /** Returns the state of a call in words. */
    static String state(FlightEvent.Call call) {
        return call.state().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Returns lines about the oldest calls, with the signallers of the points awaited. */
    List<String> explain(OperationGraph graph, int most) {
        List<String> lines = new ArrayList<>();
        waiting(graph, most).forEach(each -> explain(each, lines));
        return lines;
    }

    /** Returns lines about a call in progress; none for another call. */
    List<String> explainOne(OperationGraph graph, long number) {
        List<String> lines = new ArrayList<>();
        FlightEvent.Call call = byNumber.get(number);
        if (call != null) {
            explain(waiting(graph, call), lines);
        }
        return lines;
    }

    private static void explain(Waiting waiting, List<String> lines) {
        FlightEvent.Call call = waiting.call();
        lines.add("call %d of %s of program '%s' for %s, %s"
                .formatted(
                        call.call(), call.function(), call.program(), Explanation.duration(call.age()), state(call)));
        for (Awaited wait : waiting.waits()) {
            lines.add("  waits for %s, %s"
                    .formatted(
                            wait.point(),
                            wait.signaller() == null
                                    ? "signalled by nobody in the recording"
                                    : "to be signalled by " + wait.signaller()));
        }
    }
}

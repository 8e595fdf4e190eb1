package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The calls in progress when a recording was taken, the counts of open work left out, and the names of timelines.
 * Immutable.
 */
final class OpenCalls {
    private static final int MOST_POINTS = 20;

    private final List<FlightEvent.Call> calls = new ArrayList<>(); // oldest first
    private final Map<Long, FlightEvent.Call> byNumber = new HashMap<>();
    private final Map<Long, String> timelines = new HashMap<>();
    private final Map<String, Integer> named = new HashMap<>(); // number of timelines by name
    private final Map<Long, NavigableMap<Long, List<Signaller>>> signallers = new HashMap<>(); // by timeline and value

    private long moreOperations;
    private long moreCalls;
    private long moreSignals; // of the listed operations and calls

    /**
     * A call to signal a timeline.
     *
     * @param awaited the highest value of the timeline awaited by the call; the least number for none
     */
    private record Signaller(FlightEvent.Call call, long awaited) {}

    OpenCalls(FlightRecording recording) {
        for (FlightEvent each : recording.events()) {
            switch (each) {
                case FlightEvent.Call call -> {
                    calls.add(call);
                    byNumber.put(call.call(), call);
                }
                case FlightEvent.NamedTimeline named -> timelines.put(named.timeline(), named.name());
                case FlightEvent.MoreOpen more -> {
                    moreOperations += more.operations();
                    moreCalls += more.calls();
                }
                case FlightEvent.MorePoints more -> moreSignals += more.signals();
                default -> {} // of operations and memory
            }
        }
        timelines.values().forEach(each -> named.merge(each, 1, Integer::sum));
        calls.sort(Comparator.comparingLong(FlightEvent.Call::age).reversed());
        calls.forEach(this::addSignals);
    }

    private void addSignals(FlightEvent.Call call) {
        Map<Long, Long> awaited = highest(call.waits());
        for (Point each : call.signals()) {
            long before = awaited.getOrDefault(each.timeline(), Long.MIN_VALUE);
            if (before < each.value()) { // else the call's operations signal the point
                signallers
                        .computeIfAbsent(each.timeline(), unused -> new TreeMap<>())
                        .computeIfAbsent(each.value(), unused -> new ArrayList<>())
                        .add(new Signaller(call, before));
            }
        }
    }

    /** Returns the highest value of each timeline among points. */
    static Map<Long, Long> highest(List<Point> points) {
        Map<Long, Long> highest = HashMap.newHashMap(1);
        points.forEach(each -> highest.merge(each.timeline(), each.value(), Math::max));
        return highest;
    }

    /** Returns the calls, the oldest first. */
    List<FlightEvent.Call> all() {
        return Collections.unmodifiableList(calls);
    }

    /** Says which signallers of points are not in the recording; empty if all are. */
    String missing() {
        long open = moreOperations + moreCalls;
        StringJoiner missing = new StringJoiner(", and ");
        if (open > 0) {
            String what = moreCalls == 0 ? "open operation" : moreOperations == 0 ? "call" : "open operation or call";
            missing.add(RecordedCalls.count(open, what) + (open == 1 ? " is" : " are") + " not in the recording");
        }
        if (moreSignals > 0) {
            missing.add(RecordedCalls.count(moreSignals, "point") + " to be signalled by open work "
                    + (moreSignals == 1 ? "is" : "are") + " not recorded");
        }
        return missing.toString();
    }

    /** Says which call in progress is to signal a point not signalled by an operation. */
    String signaller(Point point) {
        return signallers.getOrDefault(point.timeline(), new TreeMap<>()).tailMap(point.value(), true).values().stream()
                .flatMap(List::stream)
                .filter(each -> each.awaited() < point.value())
                .findFirst()
                .map(each -> "to be signalled by " + title(each.call()))
                .orElseGet(() -> missing().isEmpty()
                        ? "signalled by nobody in the recording"
                        : "not known by whom signalled: " + missing());
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

    /** Returns the label of a timeline: the name, with the id where several timelines have the name, or the id. */
    String label(long timeline) {
        String name = name(timeline);
        return name.isEmpty() ? "timeline " + timeline : name;
    }

    /** Returns the name of a timeline, with the id where several timelines have the name; empty if not recorded. */
    String name(long timeline) {
        String name = timelines.getOrDefault(timeline, "");
        return named.getOrDefault(name, 0) > 1 ? "%s (%d)".formatted(name, timeline) : name;
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

    /** Returns a call in words, for example {@code call 7 of sums.add of program 'sums', before inputs}. */
    static String title(FlightEvent.Call call) {
        return "call %d of %s of program '%s', %s".formatted(call.call(), call.function(), call.program(), state(call));
    }

    /** Returns the state of a call in words. */
    static String state(FlightEvent.Call call) {
        return call.state().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Returns lines about the calls, the oldest first, with the signallers of the points awaited. */
    List<String> explain(OperationGraph graph) {
        List<String> lines = new ArrayList<>();
        calls.forEach(each -> explain(graph, each, lines));
        return lines;
    }

    /** Returns lines about a call in progress; none for another call. */
    List<String> explainOne(OperationGraph graph, long number) {
        List<String> lines = new ArrayList<>();
        FlightEvent.Call call = byNumber.get(number);
        if (call != null) {
            explain(graph, call, lines);
        }
        return lines;
    }

    private void explain(OperationGraph graph, FlightEvent.Call call, List<String> lines) {
        lines.add("call %d of %s of program '%s' for %s, %s"
                .formatted(
                        call.call(), call.function(), call.program(), Explanation.duration(call.age()), state(call)));
        for (Point wait : call.waits()) {
            RecordedOperation operation = graph.signaller(wait);
            lines.add("  waits for %s, %s"
                    .formatted(
                            describe(wait), operation == null ? signaller(wait) : "to be signalled by " + operation));
        }
    }
}

package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The calls in progress when a recording was taken, and the names of timelines. Immutable. */
final class OpenCalls {
    private final List<FlightEvent.Call> calls = new ArrayList<>(); // oldest first
    private final Map<Long, String> programs = new HashMap<>(); // by call
    private final Map<Long, String> timelines = new HashMap<>();

    OpenCalls(FlightRecording recording) {
        for (FlightEvent each : recording.events()) {
            switch (each) {
                case FlightEvent.Call call -> {
                    calls.add(call);
                    programs.put(call.call(), call.program());
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
        return programs.getOrDefault(number, "");
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
        return calls.stream()
                .limit(most)
                .map(call -> new Waiting(
                        call,
                        call.waits().stream()
                                .map(point -> new Awaited(describe(point), graph.signaller(point)))
                                .toList()))
                .toList();
    }

    /** Returns the state of a call in words. */
    static String state(FlightEvent.Call call) {
        return call.state().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Returns lines about the oldest calls, with the signallers of the points awaited. */
    List<String> explain(OperationGraph graph, int most) {
        List<String> lines = new ArrayList<>();
        for (Waiting each : waiting(graph, most)) {
            FlightEvent.Call call = each.call();
            lines.add("call %d of %s of program '%s' for %s, %s"
                    .formatted(
                            call.call(),
                            call.function(),
                            call.program(),
                            Explanation.duration(call.age()),
                            state(call)));
            for (Awaited wait : each.waits()) {
                lines.add("  waits for %s, %s"
                        .formatted(
                                wait.point(),
                                wait.signaller() == null
                                        ? "signalled by nobody in the recording"
                                        : "to be signalled by " + wait.signaller()));
            }
        }
        return lines;
    }
}

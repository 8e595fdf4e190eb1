package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Dispatched;
import io.github.iree4j.flight.FlightEvent.Workgroups;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The dispatches of the operations of a recording, as far as sampled. An unknown state is reported as unknown: the lack
 * of a record is no statement about the dispatch, unless all records are there. Immutable.
 */
final class RecordedDispatches {
    /** The names of the operations running dispatches. */
    private static final Set<String> EXECUTIONS = Set.of(QueueOperation.EXECUTE, QueueOperation.DISPATCH);

    /** The known state of a dispatch. */
    enum State {
        ENDED("ended"),
        FAILED("failed"),
        STOPPED("stopped before its end"),
        NOT_RUN("not run"),
        NOT_ENDED("not ended"),
        UNTIMED("the device does not report its time"),
        UNKNOWN("not known, records are missing");

        private final String text;

        State(String text) {
            this.text = text;
        }

        /** Whether the dispatch has a begin and an end. */
        boolean isTimed() {
            return compareTo(STOPPED) <= 0;
        }
    }

    /**
     * A dispatch.
     *
     * @param index position among the dispatches of the operation
     * @param begin nanoseconds since the recorder was opened; 0 if not {@link State#isTimed timed}, as the end
     * @param workers the number of threads that ran workgroups; 0 if not timed
     */
    record Row(
            RecordedOperation operation,
            int index,
            String export,
            Workgroups workgroups,
            State state,
            long begin,
            long end,
            long workers) {
        long duration() {
            return end - begin;
        }
    }

    private final OperationGraph graph;
    private final Explanation explanation;
    private final Map<Long, FlightEvent.Dispatches> listed = new HashMap<>(); // by operation
    private final Map<Long, Map<Long, Dispatched>> over = new HashMap<>(); // by operation and index

    RecordedDispatches(OperationGraph graph, Explanation explanation) {
        this.graph = graph;
        this.explanation = explanation;
        for (FlightEvent each : graph.recording().events()) {
            if (each instanceof FlightEvent.Dispatches list) {
                listed.putIfAbsent(list.operation(), list);
            } else if (each instanceof Dispatched dispatch) {
                over.computeIfAbsent(dispatch.operation(), unused -> new HashMap<>())
                        .putIfAbsent(dispatch.index(), dispatch);
            }
        }
    }

    /**
     * Returns the dispatches of an operation in the order of recording; none for an operation not sampled, as far as
     * known.
     */
    List<Row> of(RecordedOperation operation) {
        FlightEvent.Dispatches list = listed.get(operation.number());
        if (list == null) {
            return List.of();
        }
        State absent = withoutRecord(operation, list);
        Map<Long, Dispatched> records = over.getOrDefault(operation.number(), Map.of());
        List<Row> rows = new ArrayList<>(list.dispatches().size());
        for (int i = 0; i < list.dispatches().size(); i++) {
            FlightEvent.Dispatch dispatch = list.dispatches().get(i);
            Dispatched record = records.get((long) i);
            rows.add(
                    record == null
                            ? new Row(operation, i, dispatch.export(), dispatch.workgroups(), absent, 0, 0, 0)
                            : new Row(
                                    operation,
                                    i,
                                    dispatch.export(),
                                    record.workgroups(),
                                    State.values()[record.outcome().ordinal()],
                                    record.begin(),
                                    record.time(),
                                    record.workers()));
        }
        return rows;
    }

    /** Returns the number of an operation's dispatches left out of the recording; 0 if not sampled, as far as known. */
    long notRecorded(RecordedOperation operation) {
        FlightEvent.Dispatches list = listed.get(operation.number());
        return list == null ? 0 : list.count() - list.dispatches().size();
    }

    /** Returns the number of dispatches of an operation known to be without times, for whatever reason. */
    long untimed(RecordedOperation operation) {
        return notRecorded(operation)
                + of(operation).stream().filter(each -> !each.state().isTimed()).count();
    }

    /** Returns the state of listed dispatches without a separate record. */
    private State withoutRecord(RecordedOperation operation, FlightEvent.Dispatches list) {
        if (!list.timed()) {
            return State.UNTIMED;
        }
        Known ended = graph.hasEnded(operation);
        if (!graph.isCompleteFrom(list) || ended == Known.UNKNOWN) {
            return State.UNKNOWN;
        }
        return ended == Known.NO
                ? State.NOT_ENDED
                : operation.status() == StatusCode.OK ? State.UNKNOWN : State.NOT_RUN;
    }

    /** Returns all dispatches of sampled operations, by operation in the order of submission. */
    List<Row> all() {
        List<Row> rows = new ArrayList<>();
        for (RecordedOperation each : graph.operations()) {
            rows.addAll(of(each));
        }
        return rows;
    }

    /** Returns the dispatch's share of the operation's running time, in percent; negative if not known. */
    double share(Row row) {
        long running = explanation.times(row.operation()).running();
        return running > 0 && row.state().isTimed() ? 100.0 * row.duration() / running : -1;
    }

    // Texts.

    /** Returns lines about the dispatches of an operation; none for other operations than executions. */
    List<String> explain(RecordedOperation operation) {
        if (!EXECUTIONS.contains(operation.name())) {
            return List.of();
        }
        FlightEvent.Dispatches list = listed.get(operation.number());
        if (list == null) {
            return List.of(
                    graph.isWhole(operation)
                            ? "dispatches: not sampled"
                            : "dispatches: not known, records are missing");
        }
        if (list.count() == 0) {
            return List.of("dispatches: none");
        }
        List<String> lines = new ArrayList<>();
        lines.add(
                list.timed() ? "dispatches, sampled:" : "dispatches, sampled; the device does not report their times:");
        of(operation).forEach(row -> lines.add("  " + line(row, list.timed())));
        if (notRecorded(operation) > 0) {
            lines.add("  (%d more, not listed)".formatted(notRecorded(operation)));
        }
        return lines;
    }

    private String line(Row row, boolean timed) {
        String what = "%s of %s".formatted(row.export(), row.workgroups());
        if (!row.state().isTimed()) {
            return timed ? "%s: %s".formatted(what, row.state().text) : what;
        }
        double share = share(row);
        return "%s  %s%s%s%s"
                .formatted(
                        Explanation.duration(row.duration()),
                        what,
                        share < 0 ? "" : String.format(Locale.ROOT, ", %.1f %% of the time running", share),
                        row.workers() > 1 ? ", by %d workers".formatted(row.workers()) : "",
                        row.state() == State.ENDED ? "" : ", " + row.state().text);
    }

    /** Adds the entry points, with the most time first, of the sampled executions, with a heading; nothing without timed dispatches. */
    void exports(Lines lines) {
        Map<String, List<Row>> exports = new LinkedHashMap<>();
        for (Row each : all()) {
            if (each.state().isTimed()) {
                String function = each.operation().function();
                exports.computeIfAbsent(
                                function.isEmpty() ? each.export() : each.export() + " of " + function,
                                unused -> new ArrayList<>())
                        .add(each);
            }
        }
        if (exports.isEmpty()) {
            return;
        }
        List<RecordedOperation> executions = graph.operations().stream()
                .filter(each -> EXECUTIONS.contains(each.name()) && !isKnownWithoutDispatches(each))
                .toList();
        long sampled = executions.stream()
                .filter(each -> listed.containsKey(each.number()))
                .count();
        lines.part(
                "dispatches with the most time, of %d sampled of %d executions:".formatted(sampled, executions.size()));
        exports.entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, List<Row>> each) -> -total(each.getValue())))
                .forEach(each -> lines.add(() -> "  " + export(each.getKey(), each.getValue())));
    }

    private boolean isKnownWithoutDispatches(RecordedOperation operation) {
        FlightEvent.Dispatches list = listed.get(operation.number());
        return list != null && list.count() == 0;
    }

    private static long total(List<Row> rows) {
        return rows.stream().mapToLong(Row::duration).sum();
    }

    private static String export(String name, List<Row> rows) {
        Row longest = Collections.max(rows, Comparator.comparingLong(Row::duration));
        return "%s  %s: %s, %s, the longest %s in operation %d"
                .formatted(
                        Explanation.duration(total(rows)),
                        name,
                        rows.size() == 1 ? "once" : rows.size() + " times",
                        Percentiles.of(rows.stream().mapToLong(Row::duration)),
                        Explanation.duration(longest.duration()),
                        longest.operation().number());
    }
}

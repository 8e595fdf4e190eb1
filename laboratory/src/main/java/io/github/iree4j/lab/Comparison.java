package io.github.iree4j.lab;

import io.github.iree4j.lab.Scenario.Placement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A scenario, run by the scheduler with three kinds of knowledge about waits, each lane a FIFO queue.
 *
 * @param scenario the scenario run, scaled
 * @param ways the outcomes: binary events, plain timelines, frontiers
 */
public record Comparison(Scenario scenario, List<Way> ways) {
    /**
     * An outcome, taken from the run. The numbers behind bytes of tracking are counted from the scenario.
     *
     * @param knowledge the scheduler's conclusions about waits
     * @param makespan the tick at which the last operation ended
     * @param records places on a queue that another queue, or the host for an operation of another queue, waits for:
     *     each needs an event, or a value of a timeline
     * @param waits waits performed by the hardware
     * @param freshWaits waits for another queue, by the hardware or the host, besides those that repeat a wait of the
     *     same queue for the same or a later place: a queue that remembers its waits makes no others
     * @param hostChecks waits for which the host checked a value or an event
     * @param heldBack operations held back by the host
     * @param pipelined operations given to the hardware before their inputs existed
     * @param trackingBytes the most bytes on the heap needed to know when a buffer is free: an array with a reference to
     *     an event for each use, points with a timeline and a value for each using queue, or the frontier of its uses
     * @param knownOrder pairs of operations with an order known to the scheduler from the frontier of the later
     *     operation
     * @param strangers pairs of operations ordered in the run although nothing links the workloads
     * @param reusedAtOnce allocations from used memory without a wait
     * @param reusedAfterWait allocations from used memory for which the hardware waits
     * @param cancelled operations failing because of a {@linkplain Fault.Kind#REJECT rejected} draft, directly or
     *     because they wait for such an operation
     * @param neverBegun cancelled operations that never ran
     * @param wastedTicks ticks for which cancelled operations ran
     * @param markedCancelled directly cancelled operations whose frontier mentions the draft and not the verification
     * @param markedOthers operations whose frontier does so, although the operations do not stand on the draft
     */
    public record Way(
            WaitKnowledge knowledge,
            long makespan,
            long records,
            long waits,
            long freshWaits,
            long hostChecks,
            long heldBack,
            long pipelined,
            long trackingBytes,
            long knownOrder,
            long strangers,
            long reusedAtOnce,
            long reusedAfterWait,
            long cancelled,
            long neverBegun,
            long wastedTicks,
            long markedCancelled,
            long markedOthers) {}

    /** Copies the parts. */
    public Comparison {
        ways = List.copyOf(ways);
    }

    private static final Map<String, Function<Way, Long>> ROWS = new LinkedHashMap<>();
    private static final Map<String, Function<Way, Long>> MEMORY_ROWS = new LinkedHashMap<>(); // of runs reusing memory
    private static final Map<String, Function<Way, Long>> CANCEL_ROWS =
            new LinkedHashMap<>(); // of runs with cancelled operations

    static {
        ROWS.put("makespan, ticks", Way::makespan);
        ROWS.put("places waited for", Way::records);
        ROWS.put("waits of the hardware", Way::waits);
        ROWS.put("waits without repetitions", Way::freshWaits);
        ROWS.put("checks by the host", Way::hostChecks);
        ROWS.put("operations held back by the host", Way::heldBack);
        ROWS.put("operations pipelined", Way::pipelined);
        ROWS.put("bytes of tracking, largest buffer", Way::trackingBytes);
        ROWS.put("pairs of known order", Way::knownOrder);
        ROWS.put("unrelated pairs ordered", Way::strangers);
        MEMORY_ROWS.put("memory reused at once", Way::reusedAtOnce);
        MEMORY_ROWS.put("memory reused after a wait", Way::reusedAfterWait);
        CANCEL_ROWS.put("operations cancelled", Way::cancelled);
        CANCEL_ROWS.put("cancelled before the beginning", Way::neverBegun);
        CANCEL_ROWS.put("ticks run for nothing", Way::wastedTicks);
        CANCEL_ROWS.put("cancelled operations marked by their frontier", Way::markedCancelled);
        CANCEL_ROWS.put("other operations marked alike", Way::markedOthers);
    }

    /**
     * Runs a scenario three times.
     *
     * @param scenario the scenario; each lane becomes a FIFO queue
     * @param options the options of the runs; the knowledge of waits is replaced
     * @return the outcomes
     */
    public static Comparison of(Scenario scenario, LabOptions options) {
        return of(run(scenario, options));
    }

    /**
     * Runs a scenario three times.
     *
     * @param scenario the scenario; each lane becomes a FIFO queue
     * @param options the options of the runs; the knowledge of waits is replaced
     * @return JSON with the outcomes as {@code costs}, and the {@code runs} by the names of the outcomes
     */
    public static String toJsonWithRuns(Scenario scenario, LabOptions options) {
        Map<WaitKnowledge, LabResult> results = run(scenario, options);
        return results.entrySet().stream()
                .map(each -> "\"%s\":%s"
                        .formatted(name(each.getKey()), each.getValue().toJson()))
                .collect(Collectors.joining(",", "{\"costs\":" + of(results).toJson() + ",\"runs\":{", "}}"));
    }

    private static Map<WaitKnowledge, LabResult> run(Scenario scenario, LabOptions options) {
        Scenario queues = Scaling.scale(scenario.withPlacement(Placement.QUEUES), options.scale());
        Map<WaitKnowledge, LabResult> results = new LinkedHashMap<>();
        for (WaitKnowledge each : List.of(WaitKnowledge.EVENTS, WaitKnowledge.TIMELINES, WaitKnowledge.FRONTIERS)) {
            results.put(each, LabRun.run(queues, options.withKnowledge(each)));
        }
        return results;
    }

    private static Comparison of(Map<WaitKnowledge, LabResult> results) {
        List<Way> ways = new ArrayList<>();
        results.forEach((knowledge, result) -> ways.add(new StrategyMetrics(result, knowledge).read()));
        return new Comparison(results.values().iterator().next().scenario(), ways);
    }

    private static String name(WaitKnowledge knowledge) {
        return knowledge.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the outcome of a kind of knowledge.
     *
     * @param knowledge the kind
     * @return the outcome
     */
    public Way way(WaitKnowledge knowledge) {
        return ways.stream()
                .filter(each -> each.knowledge() == knowledge)
                .findFirst()
                .orElseThrow();
    }

    /**
     * Returns the outcomes as a table in Markdown.
     *
     * @return lines, each with a line end
     */
    public String toTable() {
        StringBuilder table = new StringBuilder("| | events | timelines | frontiers |\n|---|---|---|---|\n");
        ROWS.forEach((name, value) -> addRow(table, name, value));
        if (ways.stream().anyMatch(each -> each.reusedAtOnce() + each.reusedAfterWait() > 0)) {
            MEMORY_ROWS.forEach((name, value) -> addRow(table, name, value));
        }
        if (ways.stream().anyMatch(each -> each.cancelled() > 0)) {
            CANCEL_ROWS.forEach((name, value) -> addRow(table, name, value));
        }
        return table.toString();
    }

    private void addRow(StringBuilder table, String name, Function<Way, Long> value) {
        table.append("| ").append(name);
        ways.forEach(way -> table.append(" | ").append(value.apply(way)));
        table.append(" |\n");
    }

    /**
     * Returns the outcomes as JSON.
     *
     * @return an object with the id of the scenario and a member for each way
     */
    public String toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", scenario.id());
        for (Way way : ways) {
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("makespan", way.makespan());
            values.put("records", way.records());
            values.put("waits", way.waits());
            values.put("freshWaits", way.freshWaits());
            values.put("hostChecks", way.hostChecks());
            values.put("heldBack", way.heldBack());
            values.put("pipelined", way.pipelined());
            values.put("trackingBytes", way.trackingBytes());
            values.put("knownOrder", way.knownOrder());
            values.put("strangers", way.strangers());
            values.put("reusedAtOnce", way.reusedAtOnce());
            values.put("reusedAfterWait", way.reusedAfterWait());
            values.put("cancelled", way.cancelled());
            values.put("neverBegun", way.neverBegun());
            values.put("wastedTicks", way.wastedTicks());
            values.put("markedCancelled", way.markedCancelled());
            values.put("markedOthers", way.markedOthers());
            json.put(name(way.knowledge()), values);
        }
        return JsonWriter.write(json);
    }
}

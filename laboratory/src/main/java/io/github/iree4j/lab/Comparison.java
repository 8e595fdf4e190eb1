package io.github.iree4j.lab;

import io.github.iree4j.hal.schedule.WaitKnowledge;
import io.github.iree4j.lab.Scenario.Placement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * A scenario, run by the scheduler with three kinds of knowledge about waits, each lane a FIFO queue.
 *
 * @param scenario the scenario run, scaled
 * @param ways the outcomes: binary events, plain timelines, frontiers
 */
public record Comparison(Scenario scenario, List<Way> ways) {
    /**
     * An outcome. All figures are taken from the run, except events under {@link WaitKnowledge#EVENTS} and under
     * {@link WaitKnowledge#TIMELINES}, and bytes under both, counted from the scenario.
     *
     * @param knowledge the scheduler's conclusions about waits
     * @param makespan the tick at which the last operation ended
     * @param events events needed: with binary events an event for each wait for another queue, with timelines none,
     *     with frontiers the places waited for by another queue
     * @param waits waits performed by the hardware
     * @param hostChecks waits for which the host checked a value or an event
     * @param heldBack operations held back by the host
     * @param pipelined operations given to the hardware before their inputs existed
     * @param trackingBytes the most bytes needed to know when a buffer is free: a reference to an event for each use, a
     *     value for each using queue, or the frontier of its uses
     * @param knownOrder pairs of operations with an order known to the scheduler from the frontier of the later
     *     operation
     * @param strangers pairs of operations ordered in the run although nothing links the workloads
     */
    public record Way(
            WaitKnowledge knowledge,
            long makespan,
            long events,
            long waits,
            long hostChecks,
            long heldBack,
            long pipelined,
            long trackingBytes,
            long knownOrder,
            long strangers) {}

    /** Copies the parts. */
    public Comparison {
        ways = List.copyOf(ways);
    }

    private static final Map<String, Function<Way, Long>> ROWS = new LinkedHashMap<>();

    static {
        ROWS.put("makespan, ticks", Way::makespan);
        ROWS.put("events", Way::events);
        ROWS.put("waits of the hardware", Way::waits);
        ROWS.put("checks by the host", Way::hostChecks);
        ROWS.put("operations held back by the host", Way::heldBack);
        ROWS.put("operations pipelined", Way::pipelined);
        ROWS.put("bytes of tracking, largest buffer", Way::trackingBytes);
        ROWS.put("pairs whose order is known", Way::knownOrder);
        ROWS.put("unrelated pairs that were ordered", Way::strangers);
    }

    /**
     * Runs a scenario three times.
     *
     * @param scenario the scenario; each lane becomes a FIFO queue
     * @param options the options of the runs; the knowledge of waits is replaced
     * @return the outcomes
     */
    public static Comparison of(Scenario scenario, LabOptions options) {
        Scenario queues = Scaling.scale(scenario.withPlacement(Placement.QUEUES), options.scale());
        List<Way> ways = new ArrayList<>();
        for (WaitKnowledge each : List.of(WaitKnowledge.EVENTS, WaitKnowledge.TIMELINES, WaitKnowledge.FRONTIERS)) {
            LabResult result = LabRun.run(queues, options.withKnowledge(each));
            ways.add(new StrategyMetrics(result, each).read());
        }
        return new Comparison(queues, ways);
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
        ROWS.forEach((name, value) -> {
            table.append("| ").append(name);
            ways.forEach(way -> table.append(" | ").append(value.apply(way)));
            table.append(" |\n");
        });
        return table.toString();
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
            values.put("events", way.events());
            values.put("waits", way.waits());
            values.put("hostChecks", way.hostChecks());
            values.put("heldBack", way.heldBack());
            values.put("pipelined", way.pipelined());
            values.put("trackingBytes", way.trackingBytes());
            values.put("knownOrder", way.knownOrder());
            values.put("strangers", way.strangers());
            json.put(way.knowledge().name().toLowerCase(Locale.ROOT), values);
        }
        return JsonWriter.write(json);
    }
}

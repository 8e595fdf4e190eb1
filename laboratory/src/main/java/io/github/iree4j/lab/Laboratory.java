package io.github.iree4j.lab;

import java.util.List;

/**
 * Runs scenarios on virtual devices, with the scheduler used for real work.
 *
 * <pre>{@code
 * LabResult result = Laboratory.run(Laboratory.scenario("late-waiter"), LabOptions.DEFAULTS);
 * assert result.finalTick() == 11 && result.violations().isEmpty();
 * }</pre>
 *
 * <p>Every run is deterministic, independent of others, and takes no time of the clock. Safe from any thread.
 */
public final class Laboratory {
    private Laboratory() {}

    /**
     * Returns the scenarios supplied with the runtime.
     *
     * @return the scenarios, in the best order of reading
     */
    public static List<Scenario> scenarios() {
        return BuiltinScenarios.all();
    }

    /**
     * Returns a scenario supplied with the runtime.
     *
     * @param id the id of the scenario
     * @return the scenario
     * @throws io.github.iree4j.status.IreeException NOT_FOUND, naming the existing scenarios
     */
    public static Scenario scenario(String id) {
        return BuiltinScenarios.find(id);
    }

    /**
     * Reads a scenario: JSON, or the part of YAML described on the page about the laboratory.
     *
     * @param text the scenario
     * @return the scenario
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT for an invalid scenario, naming the line and the
     *     defect
     */
    public static Scenario read(String text) {
        return ScenarioReader.read(text);
    }

    /**
     * Runs a scenario.
     *
     * @param scenario the scenario
     * @param options the options of the run
     * @return the results
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT when the scenario cannot be scaled as requested, a
     *     fault names nothing in the scenario, the scenario needs more queues than there are, or the values of a timeline
     *     are signalled out of order
     */
    public static LabResult run(Scenario scenario, LabOptions options) {
        return LabRun.run(Scaling.scale(scenario, options.scale()), options);
    }
}

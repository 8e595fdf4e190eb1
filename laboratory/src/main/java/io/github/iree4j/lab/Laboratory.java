package io.github.iree4j.lab;

import java.util.List;

/**
 * Runs scenarios on virtual devices, with the scheduler that orders real work.
 *
 * <pre>{@code
 * LabResult result = Laboratory.run(Laboratory.scenario("late-waiter"), LabOptions.DEFAULT);
 * assert result.finalTick() == 11 && result.violations().isEmpty();
 * }</pre>
 *
 * <p>Every run is deterministic, independent of others, and takes no time of the clock. Safe from any thread.
 */
public final class Laboratory {
    private Laboratory() {}

    /**
     * Returns the scenarios that come with the runtime.
     *
     * @return them, in the order in which they are best read
     */
    public static List<Scenario> scenarios() {
        return BuiltinScenarios.all();
    }

    /**
     * Returns a scenario that comes with the runtime.
     *
     * @param id its id
     * @return the scenario
     * @throws io.github.iree4j.status.IreeException NOT_FOUND naming those that there are
     */
    public static Scenario scenario(String id) {
        return BuiltinScenarios.find(id);
    }

    /**
     * Reads a scenario: JSON, or the part of YAML that the page on the laboratory describes.
     *
     * @param text the scenario
     * @return the scenario
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT when it is none, naming the line and what is wrong
     */
    public static Scenario read(String text) {
        return ScenarioReader.read(text);
    }

    /**
     * Runs a scenario.
     *
     * @param scenario the scenario
     * @param options how
     * @return what happened
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT when it cannot be scaled so, or a fault names nothing in it
     */
    public static LabResult run(Scenario scenario, LabOptions options) {
        return LabRun.run(Scaling.scale(scenario, options.scale()), options);
    }
}

package io.github.iree4j.lab;

import java.util.List;

/**
 * Options for running a scenario.
 *
 * @param scale the scale of the scenario
 * @param faults the faults, in listed order where the order matters
 * @param hostDelay ticks until the host observes the end of an operation, and until the host's reaction takes effect
 * @param knowledge the scheduler's conclusions about waits
 */
public record LabOptions(Scale scale, List<Fault> faults, long hostDelay, WaitKnowledge knowledge) {
    /** The most faults of a run. */
    public static final int MAXIMUM_FAULTS = 1024;

    /** The unchanged scenario, without faults; the host observes everything at once. */
    public static final LabOptions DEFAULTS = new LabOptions(Scale.ONE, List.of(), 0, WaitKnowledge.FRONTIERS);

    /** Copies and checks the parts. */
    public LabOptions {
        faults = List.copyOf(faults);
        Scenario.check("number of faults", faults.size(), 0, MAXIMUM_FAULTS);
        Scenario.check("delay of the host", hostDelay, 0, Scenario.MAXIMUM_DURATION);
    }

    /**
     * Returns these options with another scale.
     *
     * @param other the scale
     * @return the options
     */
    public LabOptions withScale(Scale other) {
        return new LabOptions(other, faults, hostDelay, knowledge);
    }

    /**
     * Returns these options with other faults.
     *
     * @param other the faults
     * @return the options
     */
    public LabOptions withFaults(List<Fault> other) {
        return new LabOptions(scale, other, hostDelay, knowledge);
    }

    /**
     * Returns these options with another delay of the host.
     *
     * @param ticks the delay
     * @return the options
     */
    public LabOptions withHostDelay(long ticks) {
        return new LabOptions(scale, faults, ticks, knowledge);
    }

    /**
     * Returns these options with another knowledge of waits.
     *
     * @param other the scheduler's conclusions about waits
     * @return the options
     */
    public LabOptions withKnowledge(WaitKnowledge other) {
        return new LabOptions(scale, faults, hostDelay, other);
    }
}

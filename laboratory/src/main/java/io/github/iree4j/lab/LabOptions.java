package io.github.iree4j.lab;

import io.github.iree4j.hal.schedule.WaitKnowledge;
import java.util.List;

/**
 * How a scenario is run.
 *
 * @param scale how much of it
 * @param faults what goes wrong, in the order in which it is listed where that matters
 * @param hostDelay ticks until the host learns that an operation is over, and until what it does then has an effect
 * @param knowledge what the scheduler concludes about waits
 */
public record LabOptions(Scale scale, List<Fault> faults, long hostDelay, WaitKnowledge knowledge) {
    /** The most faults of a run. */
    public static final int MAXIMUM_FAULTS = 1024;

    /** The scenario as it is, without faults; the host learns of everything at once. */
    public static final LabOptions DEFAULT = new LabOptions(Scale.ONE, List.of(), 0, WaitKnowledge.FRONTIERS);

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
     * @param other what the scheduler concludes about waits
     * @return the options
     */
    public LabOptions withKnowledge(WaitKnowledge other) {
        return new LabOptions(scale, faults, hostDelay, other);
    }
}

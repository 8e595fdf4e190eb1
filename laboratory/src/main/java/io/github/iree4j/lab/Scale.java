package io.github.iree4j.lab;

/**
 * How much of a scenario is run.
 *
 * @param width independent copies on the same hardware, each with its own timelines; 1 to 4
 * @param depth repetitions of each copy, one chained to the other; 1 to 8. Timelines that link them count on; the others exist once
 *     for each repetition. Operations that wait for nothing wait for the end of the previous repetition
 * @param lanes lanes of the scalable class of hardware, 1 to 4; 0 for as many as the scenario says
 */
public record Scale(int width, int depth, int lanes) {
    /** The scenario as it is. */
    public static final Scale ONE = new Scale(1, 1, 0);

    /** The largest width. */
    public static final int MAXIMUM_WIDTH = 4;

    /** The largest depth. */
    public static final int MAXIMUM_DEPTH = 8;

    /** The most lanes. */
    public static final int MAXIMUM_LANES = 4;

    /** Checks the ranges. */
    public Scale {
        Scenario.check("width", width, 1, MAXIMUM_WIDTH);
        Scenario.check("depth", depth, 1, MAXIMUM_DEPTH);
        Scenario.check("number of lanes", lanes, 0, MAXIMUM_LANES);
    }
}

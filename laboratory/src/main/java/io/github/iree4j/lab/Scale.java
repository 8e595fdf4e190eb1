package io.github.iree4j.lab;

/**
 * The scale of a scenario.
 *
 * @param width independent copies on the same hardware, each with separate timelines; 1 to 4
 * @param depth chained repetitions of each copy; 1 to 8. Timelines linking the repetitions count on; the others exist
 *     once for each repetition. Operations without waits wait for the end of the previous repetition
 * @param lanes lanes of the scalable class of hardware, 1 to 4; 0 for the scenario's number
 */
public record Scale(int width, int depth, int lanes) {
    /** The unchanged scenario. */
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

package io.github.iree4j;

/**
 * How much a test of random things does, and from which seed: little in a build, much in the nightly run, which chooses new seeds. A test that takes its numbers
 * from here is tagged {@code long}, so that the nightly run finds it.
 *
 * <p>{@code -Diree4j.test.effort=long} for much; {@code -Diree4j.test.rounds=N} and {@code -Diree4j.test.seed=S} for so much, from there.
 */
public final class Effort {
    private Effort() {}

    /** Whether there is time. */
    public static boolean isLong() {
        return "long".equals(System.getProperty("iree4j.test.effort"));
    }

    /** Returns how many rounds to run: so many in a build, so many at night, unless somebody wants another number. */
    public static int rounds(int inBuild, int atNight) {
        return Integer.getInteger("iree4j.test.rounds", isLong() ? atNight : inBuild);
    }

    /**
     * Returns the seed of a test that is as short at night, and says its seed when it fails.
     *
     * @param usual the seed when nobody wants another, so that every build does the same
     */
    public static long seed(long usual) {
        return Long.getLong("iree4j.test.seed", usual);
    }

    /**
     * Returns the seed of the first round, and prints it where the scripts look for it.
     *
     * @param test who asks
     * @param what what is done, for people: a number and a noun
     * @param usual the seed when nobody wants another
     */
    public static long seed(Class<?> test, String what, long usual) {
        long seed = seed(usual);
        System.out.printf("random: %s: %s from seed %d%n", test.getSimpleName(), what, seed);
        return seed;
    }
}

package io.github.iree4j;

import java.util.PrimitiveIterator;
import java.util.concurrent.TimeUnit;

/**
 * The number of rounds of a random or race test, and the seed: an eighth of the usual number in a Maven build, all
 * rounds in the nightly run, by {@code bin/mutate}, and by default outside of Maven ({@code -Dtest.effort=usual} for
 * Maven). Tests tagged {@code long} run once more at night, longer and with new seeds. Programs are generated in the
 * same order each time: a build runs the first rounds. The large generators continue in a build, up to the usual
 * number, for at most half a minute ({@link #programs}).
 *
 * <p>{@code -Diree4j.test.effort=brief} for little, {@code long} for much; {@code -Diree4j.test.rounds=N} and {@code -Diree4j.test.seed=S} for a number of rounds and a seed.
 */
public final class Effort {
    private Effort() {}

    /** Whether this is a long run. */
    public static boolean isLong() {
        return "long".equals(System.getProperty("iree4j.test.effort"));
    }

    /** Whether this is a build. */
    public static boolean isBrief() {
        return "brief".equals(System.getProperty("iree4j.test.effort"));
    }

    /**
     * Returns the number of rounds: the usual number, an eighth in a build, another where a test tagged {@code long}
     * runs once more at night, unless overridden by a property.
     */
    public static int rounds(int usual, int atNight) {
        return Integer.getInteger("iree4j.test.rounds", isLong() ? atNight : isBrief() ? (usual + 7) / 8 : usual);
    }

    /** Returns the number of rounds of a race test, the same at night, since seeds do not matter. */
    public static int rounds(int usual) {
        return rounds(usual, usual);
    }

    /**
     * Returns the programs of a generator: the usual number, or, in a build, as many as fit half a minute, but at least
     * an eighth. Prints the number for the scripts.
     *
     * @param test the calling test
     * @param seed the default seed of the first
     */
    public static Programs programs(Class<?> test, int usual, int atNight, long seed) {
        return new Programs(
                test.getSimpleName(),
                seed(seed),
                rounds(usual, atNight),
                isBrief() && Integer.getInteger("iree4j.test.rounds") == null ? usual : 0);
    }

    /** The seeds of programs, one after the other. */
    public static final class Programs implements PrimitiveIterator.OfLong {
        private static final long SHARE = TimeUnit.SECONDS.toNanos(30);

        private final String test;
        private final long seed;
        private final int least;
        private final int most;
        private final long start = System.nanoTime();
        private int count;

        private Programs(String test, long seed, int least, int most) {
            this.test = test;
            this.seed = seed;
            this.least = least;
            this.most = Math.max(least, most);
        }

        /** Prints the number of programs after the last one. */
        @Override
        public boolean hasNext() {
            if (count < least || count < most && System.nanoTime() - start < SHARE) {
                return true;
            }
            System.out.printf(
                    "random: %s: %d programs%s from seed %d%n", test, count, count < most ? " of " + most : "", seed);
            return false;
        }

        @Override
        public long nextLong() {
            return seed + count++;
        }

        /** How many have been taken. */
        public int count() {
            return count;
        }
    }

    /**
     * Returns the seed of a test equally short at night, and reports the seed on failure.
     *
     * @param usual the default seed, for equal builds
     */
    public static long seed(long usual) {
        return Long.getLong("iree4j.test.seed", usual);
    }

    /**
     * Returns the seed of the first round, and prints the seed for the scripts.
     *
     * @param test the calling test
     * @param what the work, for display: a number and a noun
     * @param usual the default seed
     */
    public static long seed(Class<?> test, String what, long usual) {
        long seed = seed(usual);
        System.out.printf("random: %s: %s from seed %d%n", test.getSimpleName(), what, seed);
        return seed;
    }
}

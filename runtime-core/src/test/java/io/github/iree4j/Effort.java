package io.github.iree4j;

import java.util.PrimitiveIterator;
import java.util.concurrent.TimeUnit;

/**
 * How much a test of random things or of races does, and from which seed: an eighth of what is usual where Maven builds, all of that in the nightly run, by
 * {@code bin/mutate}, and where nobody says ({@code -Dtest.effort=usual} tells Maven). One that is tagged {@code long} runs at night once more, at length and with new seeds. Programs are taken
 * in the same order each time: a build does the first of them. The large generators go on in a build, to the usual number, while a minute has not passed ({@link #programs}).
 *
 * <p>{@code -Diree4j.test.effort=brief} for little, {@code long} for much; {@code -Diree4j.test.rounds=N} and {@code -Diree4j.test.seed=S} for so much, from there.
 */
public final class Effort {
    private Effort() {}

    /** Whether there is time. */
    public static boolean isLong() {
        return "long".equals(System.getProperty("iree4j.test.effort"));
    }

    /** Whether a build is waiting. */
    public static boolean isBrief() {
        return "brief".equals(System.getProperty("iree4j.test.effort"));
    }

    /** Returns how many rounds to run: so many, an eighth of that in a build, so many at night, unless somebody wants another number. */
    public static int rounds(int usual, int atNight) {
        return Integer.getInteger("iree4j.test.rounds", isLong() ? atNight : isBrief() ? (usual + 7) / 8 : usual);
    }

    /** Returns how many rounds to run that are as many at night: of races, which another seed does not change. */
    public static int rounds(int usual) {
        return rounds(usual, usual);
    }

    /**
     * Returns the programs of a generator: so many, or, in a build, as many of them as a minute is enough for, but an eighth at least. How many that were is
     * printed where the scripts look for it.
     *
     * @param test who asks
     * @param seed of the first, when nobody wants another
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
        private static final long SHARE = TimeUnit.MINUTES.toNanos(1);

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

        /** Says how many there were when that is the last. */
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

package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.virtual.RandomProgram.Options;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The scheduler never claims more than is true: random programs, where each frontier, each wait, each reuse of memory and each
 * lookup in a timeline is checked against {@link HappensBefore}.
 */
@Tag("long")
class NeverOptimisticTest {
    private final long[] decisions = new long[6];
    private final TreeMap<String, Integer> seen = new TreeMap<>();

    @Test
    void everyClaimOfAFrontierAndEveryElidedWaitIsTrue() {
        Effort.Programs programs = Effort.programs(NeverOptimisticTest.class, 5_000, 100_000, 20261120);
        while (programs.hasNext()) {
            long seed = programs.nextLong();
            check(seed, seed % 3 != 0, false);
        }
        if (programs.count() < 100) {
            return; // a given seed
        }
        assertThat(decisions).as("each way to resolve a wait was taken").doesNotContain(0);
        for (String each : new String[] {
            "tight",
            "tight with collectives",
            "collectives that took place",
            "collectives that failed",
            "points that several signalled",
            "work of the host",
            "devices lost in the middle",
            "operations ended by a loss",
            "frontiers that lost entries",
            "reuse without waiting of incomplete work"
        }) {
            assertThat(seen.getOrDefault(each, 0)).as(each).isGreaterThan(programs.count() / 100);
        }
    }

    /** Collectives lost before their run, behind an external wait: the stream had inherited the taint. */
    @Test
    void taintOfWorkLostBeforeItsRunHasAReason() {
        check(17976826359077L, false, false);
    }

    /** With a short history a late waiter gets a later signal, even the signal of a device lost since. */
    @Test
    void earlierWorkOfALostDeviceMayBeClaimed() {
        check(5167646, false, false);
    }

    /** The promises of a failed timeline are not repeated: the last promise answers for earlier values. */
    @Test
    void promisesOfAFailedTimelineMayBeForgotten() {
        check(1795588137, true, false);
    }

    @Test
    void theCheckerSeesAForgottenWait() {
        int caught = 0;
        for (int i = 0; i < 300; i++) {
            try {
                check(i, i % 3 != 0, true);
            } catch (AssertionError e) {
                caught++;
            }
        }
        assertThat(caught).as("programs of 300 with a wait less than declared").isGreaterThan(30);
    }

    private void check(long seed, boolean independent, boolean sabotaged) {
        // Seeds in a row give a Random its first numbers in a row too; these are unrelated.
        Random random = new Random(new SplittableRandom(seed).nextLong());
        int[] capacities = {1, 2, 3, 12, 64, 64, 64, 64};
        Options options = new Options(
                capacities[random.nextInt(capacities.length)],
                random.nextInt(3) == 0 ? 1 + random.nextInt(4) : 64,
                random.nextInt(4) == 0,
                random.nextInt(4) == 0,
                random.nextInt(3) == 0,
                random.nextInt(3) == 0,
                random.nextInt(3) == 0,
                random.nextInt(5) == 0,
                independent,
                sabotaged);
        long programSeed = random.nextLong();
        int operations = 5 + random.nextInt(40);
        try (RandomProgram program = new RandomProgram(programSeed, options, operations)) {
            new HappensBefore(program).check();
            note(program);
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError(
                    "seed %d, %s: %s%s"
                            .formatted(
                                    seed,
                                    options,
                                    e.getMessage(),
                                    sabotaged ? "" : smallest(new SplittableRandom(seed), options, operations)),
                    e);
        }
    }

    /** The smallest failing program with these options, among some thousands. */
    private static String smallest(SplittableRandom seeds, Options options, int operations) {
        for (int size = 2; size < operations; size++) {
            for (int i = 0; i < 2000; i++) {
                long seed = seeds.nextLong();
                try (RandomProgram program = new RandomProgram(seed, options, size)) {
                    try {
                        new HappensBefore(program).check();
                    } catch (AssertionError e) {
                        return "%nThe smallest found, of %d steps with seed %d:%n%s%s"
                                .formatted(size, seed, e.getMessage(), program.describe());
                    }
                }
            }
        }
        return "";
    }

    private void note(RandomProgram program) {
        long[] these = program.decisions();
        for (int d = 0; d < these.length; d++) {
            decisions[d] += these[d];
        }
        note("tight", program.options.areTight());
        note("tight with collectives", program.options.areTight() && program.options.collectives());
        note("points that several signalled", program.options.joint());
        boolean lost = program.lost != null;
        for (Event event : program.events) {
            boolean meeting = event.name.startsWith("meeting");
            note("collectives that took place", meeting && event.ran);
            note("collectives that failed", meeting && !event.ran);
            note("work of the host", event.device == null && !meeting && event.ran);
            note("operations ended by a loss", lost && event.isComplete() && !event.ran);
            note("frontiers that lost entries", event.frontier.isTainted());
            note(
                    "reuse without waiting of incomplete work",
                    event.covered.stream()
                            .anyMatch(other ->
                                    isInFlight(program.events.get(other), event.issuedBy) && other != event.index));
        }
        note(
                "devices lost in the middle",
                lost
                        && program.steps.stream().anyMatch(step -> step.own.failure() == null)
                        && program.steps.stream().anyMatch(step -> step.own.failure() == program.loss));
    }

    private static boolean isInFlight(Event event, int action) {
        return event.completedBy == 0 || event.completedBy > action;
    }

    private void note(String what, boolean happened) {
        seen.merge(what, happened ? 1 : 0, Integer::sum);
    }
}

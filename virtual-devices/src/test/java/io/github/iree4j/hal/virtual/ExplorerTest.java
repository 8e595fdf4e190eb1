package io.github.iree4j.hal.virtual;

import static io.github.iree4j.hal.virtual.SmallProgram.operation;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.virtual.Explorer.Finding;
import io.github.iree4j.hal.virtual.Explorer.Mode;
import io.github.iree4j.hal.virtual.SmallPrograms.Family;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every interleaving of small programs keeps the invariants: nothing starts before its waits are reached, memory has
 * one user at a time, frontiers claim only true facts, failures have a cause, and everything ends with nothing left. A
 * build runs some programs of each family, the nightly run many more; selected by the seed.
 */
@Tag("long")
class ExplorerTest {
    private static final Explorer ALL = new Explorer(Mode.PLAIN);

    private static long seed;

    @BeforeAll
    static void choose() {
        seed = Effort.seed(ExplorerTest.class, "small programs", 0);
    }

    @AfterAll
    static void say() {
        System.out.printf(Locale.ROOT, "explored: %s%n", ALL);
    }

    // ---- Families.

    /** A sample of the programs of a family, in a build and at night, with the events possible. */
    private static Arguments some(
            String with, Family family, int usual, int atNight, UnaryOperator<SmallProgram> variant) {
        return Arguments.of(with, family, Effort.isLong() ? atNight : Effort.isBrief() ? 128 * usual : usual, variant);
    }

    static Stream<Arguments> families() {
        List<Arguments> all = new ArrayList<>();
        for (String queues : List.of("FF", "FU", "Ff", "UU")) {
            Family two = new Family(queues, "ww", 0, 2, 2);
            Family three = new Family(queues, "www", 0, 1, 2);
            all.add(some("nothing else", two, 4, 1, UnaryOperator.identity()));
            all.add(some("cancellations", two, 128, 32, SmallProgram::withCancellations));
            // The propagation of failures needs few operations: all of these.
            Family least = new Family(queues, "ww", 0, 0, 1);
            all.add(some("cancellations", least, 1, 1, SmallProgram::withCancellations));
            all.add(some("a loss", least, 1, 1, SmallProgram::withLoss));
            all.add(some(
                    "cancellations and late reports",
                    least,
                    1,
                    1,
                    program -> program.withCancellations().withLateReports()));
            all.add(some("nothing else", three, 96, 32, UnaryOperator.identity()));
            all.add(some("late reports", three, 512, 256, SmallProgram::withLateReports));
            all.add(some("cancellations", three, 1024, 512, SmallProgram::withCancellations));
            all.add(some("a loss", three, 512, 256, SmallProgram::withLoss));
            if (!Effort.isBrief()) { // a single program takes as long as all others together
                all.add(some(
                        "nothing else", new Family(queues, "wwww", 0, 1, 1), 4096, 4096, UnaryOperator.identity()));
            }
        }
        for (String queues : List.of("FF", "FU", "FFU")) {
            Family freed = new Family(queues, "akB", 3, 1, 2);
            all.add(some("nothing else", freed, 256, 128, UnaryOperator.identity()));
            all.add(some("late reports", freed, 2048, 1024, SmallProgram::withLateReports));
            all.add(some("cancellations", freed, 4096, 2048, SmallProgram::withCancellations));
            all.add(some("a loss", freed, 1024, 512, SmallProgram::withLoss));
        }
        for (String queues : List.of("FF", "FU")) {
            Family reused = new Family(queues, "AaB", 0, 1, 2);
            all.add(some("nothing else", reused, 64, 32, UnaryOperator.identity()));
            all.add(some("cancellations", reused, 512, 256, SmallProgram::withCancellations));
            all.add(some("a loss", reused, 256, 128, SmallProgram::withLoss));
            all.add(some("nothing else", new Family(queues, "AaBb", 0, 1, 1), 64, 32, UnaryOperator.identity()));
        }
        return all.stream();
    }

    @ParameterizedTest(name = "{1} with {0}")
    @MethodSource("families")
    void noInterleavingOfAFamilyGoesWrong(String with, Family family, int every, UnaryOperator<SmallProgram> variant) {
        List<SmallProgram> chosen = new ArrayList<>();
        long place = seed;
        for (SmallProgram program : SmallPrograms.of(family)) {
            if (place++ % every == 0) {
                chosen.add(variant.apply(program));
            }
        }
        check(family + " with " + with, chosen);
    }

    private static void check(String what, List<SmallProgram> programs) {
        Explorer explorer = new Explorer(Mode.PLAIN);
        programs.forEach(explorer::explore);
        System.out.printf(Locale.ROOT, "%s: %s%n", what, explorer); // it may take long
        ALL.add(explorer);
        assertThat(shortestOfEachKind(explorer.findings())).isEmpty();
    }

    /** Drops findings of the same kind with more steps. */
    private static List<Finding> shortestOfEachKind(List<Finding> findings) {
        Map<String, Finding> shortest = new TreeMap<>();
        for (Finding each : findings) {
            shortest.merge(
                    each.what().replaceAll(":.*", ""),
                    each,
                    (one, other) -> one.steps().size() <= other.steps().size() ? one : other);
        }
        return List.copyOf(shortest.values());
    }

    // ---- Programs of six operations on three queues.

    private static final SmallProgram HELD_ALLOCATION = SmallProgram.of(
            "FFU",
            List.of(
                    operation(0, "free A", "", "S2"),
                    operation(2, "work", "", "T1"),
                    operation(2, "free K", "T1", ""),
                    operation(1, "allocate B", "S1", "T2"),
                    operation(1, "free B", "T2", ""),
                    operation(0, "work", "T2", "")),
            SmallProgram.points("S1"),
            3);

    private static final SmallProgram IMPLIED_WAITS = SmallProgram.of(
            "FFU",
            List.of(
                    operation(0, "work", "", "T1"),
                    operation(0, "work", "", "S2"),
                    operation(2, "work", "S1,T1", ""),
                    operation(1, "work", "S1,T1", "T2"),
                    operation(1, "work", "", "S1"),
                    operation(2, "work", "S2,T2", "")),
            0,
            0);

    private static final SmallProgram TWO_DEVICES = SmallProgram.of(
            "FfU",
            List.of(
                    operation(0, "work", "", "S2"),
                    operation(1, "work", "S1", "T1"),
                    operation(2, "work", "S1", ""),
                    operation(0, "work", "T1", "T2"),
                    operation(1, "work", "S2,T2", ""),
                    operation(2, "work", "T2", "")),
            SmallProgram.points("S1"),
            0);

    static Stream<Arguments> sixOperations() {
        List<Arguments> all = new ArrayList<>();
        Map<String, SmallProgram> programs = new LinkedHashMap<>();
        programs.put("an allocation in line behind a promise that a lower value passes by", HELD_ALLOCATION);
        programs.put("waits whose promises imply one another, and a lower value", IMPLIED_WAITS);
        programs.put("a timeline through two devices", TWO_DEVICES);
        SmallProgram atNight = List.copyOf(programs.values()).get((int) Long.remainderUnsigned(seed, programs.size()));
        programs.forEach((what, program) -> {
            SmallProgram ordered = program.submittedInOrder();
            // Up to two million schedules each: a build has StaleReservationTest and EarlyStartTest for the finds of
            // these programs.
            if (Effort.isLong() || !Effort.isBrief() && !program.equals(TWO_DEVICES)) {
                all.add(Arguments.of(what, ordered));
            }
            // A night takes a single program, and none with late reports, which the families cover.
            if (Effort.isLong() && program.equals(atNight)) {
                all.add(Arguments.of(what + ", a loss", ordered.withLoss()));
                all.add(Arguments.of(what + ", cancellations", ordered.withCancellationsOf(0b1010)));
            }
        });
        return all.stream();
    }

    @ParameterizedTest(name = "{0}", allowZeroInvocations = true)
    @MethodSource("sixOperations")
    void noInterleavingOfSixOperationsGoesWrong(String what, SmallProgram program) {
        check(what, List.of(program));
    }

    // ---- Minimal programs of fixed bugs.

    @Test
    void aLowerValueOfAnotherStreamEndsNoDroppedWait() {
        check(
                "once wrong",
                List.of(SmallProgram.of(
                        "FU",
                        List.of(
                                operation(0, "work", "", "S1"),
                                operation(0, "work", "", "T2"),
                                operation(1, "work", "S1,T1", "")),
                        SmallProgram.points("T1"),
                        0)));
    }

    @Test
    void aLowerValueOfTheOwnStreamGivesNoMemoryInUse() {
        check(
                "once wrong",
                List.of(SmallProgram.of(
                        "FF",
                        List.of(
                                operation(0, "free A", "", "S2"),
                                operation(1, "free K", "", "S1"),
                                operation(1, "allocate B", "S1", "")),
                        0,
                        3)));
    }

    // ---- The explorer itself.

    @Test
    void aSchedulerForgettingAWaitIsFound() {
        Explorer explorer = new Explorer(Mode.SABOTAGED);
        for (String queues : List.of("FF", "FU", "Ff", "UU")) {
            List<SmallProgram> one = List.copyOf(SmallPrograms.of(new Family(queues, "ww", 0, 0, 1)));
            one.stream().filter(program -> program.size() == 2).forEach(explorer::explore);
        }
        assertThat(explorer.findings())
                .isNotEmpty()
                .allSatisfy(each -> assertThat(each.what()).startsWith("early start"));
    }

    @Test
    void mergedStatesGoOnInTheSameWays() {
        List<SmallProgram> programs = new ArrayList<>();
        for (Family family : List.of(
                new Family("FF", "ww", 0, 1, 2),
                new Family("FU", "ww", 0, 1, 2),
                new Family("Ff", "ww", 0, 1, 2),
                new Family("FF", "AaB", 0, 0, 1))) {
            programs.addAll(SmallPrograms.of(family));
        }
        long place = seed;
        for (SmallProgram program : programs) {
            if (place++ % (Effort.isLong() ? 1 : Effort.isBrief() ? 256 : 16) == 0) {
                SmallProgram each = place % 2 == 0 ? program.withLoss() : program;
                Explorer together = new Explorer(Mode.PLAIN);
                together.explore(each);
                Explorer apart = new Explorer(Mode.APART);
                apart.explore(each);
                assertThat(together.schedules()).as("%s", each).isEqualTo(apart.schedules());
                assertThat(together.findings()).as("%s", each).hasSameSizeAs(apart.findings());
            }
        }
    }
}

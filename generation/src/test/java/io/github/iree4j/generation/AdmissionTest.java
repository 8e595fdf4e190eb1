package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When waiting sequences begin. */
@Tag("long")
class AdmissionTest {
    private static final int TRIALS = Effort.rounds(40, 400);
    private static final long SEED = Effort.seed(AdmissionTest.class, TRIALS + " trials", 3);
    private static final int CLIENTS = 200;
    private static final StepShapes SHAPES = new StepShapes(16, 32, 16);

    private static final PageMover NO_HOST = new PageMover() {
        @Override
        public void toHost(int page, int slot) {
            throw new AssertionError();
        }

        @Override
        public void toCache(int slot, int page) {
            throw new AssertionError();
        }
    };

    /** A request: when it arrives, and how many tokens the answer has. */
    private record Client(int arrival, Generation generation, int answer) {}

    /** Runs sequences without computing anything. */
    private static final class Run {
        final StepPlanner planner;
        final List<Long> ended = new ArrayList<>(); // numbers of requests
        int steps;

        Run(int pages, int rows, boolean hasty) {
            Measured measured = new Measured(
                    List.of(new Entry("prefill", true, 4)),
                    List.of(new Entry("decode", false, rows)),
                    true,
                    true,
                    true,
                    true);
            planner = new StepPlanner(
                    true,
                    SHAPES,
                    measured,
                    pages + 1,
                    hasty ? new HastyAdmission() : new Admission(),
                    new Speculation(0),
                    new PromptLookup(),
                    1,
                    0,
                    NO_HOST);
        }

        long preemptions() {
            return planner.statistics(0, 0, 0).preemptions();
        }

        /** Lets clients arrive, in the order of arrival, until all have their answers. */
        Run serve(List<Client> clients) {
            Map<Sequence, Client> sequences = new HashMap<>();
            int arrived = 0;
            for (int time = 0; arrived < clients.size() || !planner.isIdle(); time++) {
                while (arrived < clients.size() && (clients.get(arrived).arrival <= time)) {
                    Sequence sequence = new Sequence(clients.get(arrived).generation);
                    sequences.put(sequence, clients.get(arrived++));
                    planner.add(sequence);
                }
                Step step = planner.next();
                if (step == null) {
                    assertThat(planner.isIdle()).as("sequences and no step").isTrue();
                    continue;
                }
                steps++;
                planner.completed(step);
                for (Sequence each : step.sequences()) {
                    if (each.computed() == each.length()) {
                        each.append(time % 1000);
                        if (each.length() - each.promptLength() == sequences.get(each).answer) {
                            planner.remove(each);
                            ended.add(each.generation().number());
                            continue;
                        }
                    }
                    planner.share(step, each);
                }
            }
            return this;
        }
    }

    private static Client client(int arrival, int prompt, int most, int answer, int number) {
        int[] tokens = new SplittableRandom(number).ints(prompt, 0, 1000).toArray();
        return new Client(arrival, new Generation(GenerationRequest.of(most, tokens), number, 0), answer);
    }

    /** Returns clients that come faster than they are served. A third leaves in the first half of the answer. */
    private static List<Client> crowd(SplittableRandom random) {
        List<Client> clients = new ArrayList<>();
        int arrival = 0;
        for (int i = 0; i < CLIENTS; i++) {
            arrival += random.nextInt(3);
            int most = random.nextInt(16, 129);
            int answer = i % 3 == 0 ? random.nextInt(1, most / 2 + 1) : most;
            clients.add(client(arrival, random.nextInt(16, 257), most, answer, i));
        }
        return clients;
    }

    /** Returns the pages for a number of clients of average size. */
    private static int pagesFor(List<Client> clients, int count) {
        int pages = 0;
        for (Client each : clients) {
            GenerationRequest request = each.generation.request();
            pages += SHAPES.pagesFor(request.promptLength() + request.maximumTokens());
        }
        return Math.ceilDiv(pages * count, clients.size());
    }

    @Test
    void aCrowdIsServedInAsManyStepsAlmostWithoutPreemptions() {
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            List<Client> clients = crowd(random);
            int pages = pagesFor(clients, 20);
            int rows = 1 << random.nextInt(5, 8);
            Run hasty = new Run(pages, rows, true).serve(clients);
            Run run = new Run(pages, rows, false).serve(clients);
            String what = "trial %d, seed %d, %d pages, %d rows".formatted(trial, SEED, pages, rows);
            assertThat(hasty.preemptions()).as(what).isGreaterThan(CLIENTS);
            assertThat(run.preemptions()).as(what).isLessThan(CLIENTS / 10);
            assertThat(run.steps).as(what).isLessThan(hasty.steps * 105 / 100);
        }
    }

    /** Answers are far shorter than the most tokens asked for: pages for the most tokens would serve a few clients at a time. */
    @Test
    void pagesAreForAnswersOfTheirRealLength() {
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            List<Client> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(client(i, random.nextInt(16, 129), 256, random.nextInt(1, 65), i));
            }
            Run hasty = new Run(150, 64, true).serve(clients);
            Run run = new Run(150, 64, false).serve(clients);
            String what = "trial %d, seed %d".formatted(trial, SEED);
            assertThat(run.preemptions()).as(what).isLessThan(CLIENTS / 10);
            assertThat(run.steps).as(what).isLessThan(hasty.steps * 11 / 10);
        }
    }

    /** Any order of arrivals, prompts with common beginnings, and answers of any length; few pages, or many. */
    @Test
    void allSequencesEndAndAllPagesAreFreeAgain() {
        for (int trial = 0; trial < 10 * TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            List<Client> clients = new ArrayList<>();
            int pages = random.nextInt(SHAPES.maximumColumns(), 4 * SHAPES.maximumColumns());
            int arrival = 0;
            for (int i = 0; i < 30; i++) {
                arrival += random.nextInt(20) == 0 ? random.nextInt(500) : random.nextInt(10);
                int prompt = random.nextInt(1, SHAPES.maximumTokens());
                int most = random.nextInt(1, SHAPES.maximumTokens() - prompt + 2);
                int answer = random.nextInt(3) == 0 ? most : random.nextInt(1, most + 1);
                clients.add(client(arrival, prompt, most, answer, i / (1 + trial % 3)));
            }
            Run run = new Run(pages, 1 << random.nextInt(7), false).serve(clients);
            assertThat(run.planner.availablePages())
                    .as("trial %d, seed %d", trial, SEED)
                    .isEqualTo(pages);
        }
    }

    @Test
    void aSequenceNeedingAllPagesBeginsInItsTurn() {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            clients.add(client(i, 100, 20, 20, i));
        }
        clients.add(client(10, SHAPES.maximumTokens(), 1, 1, 10));
        for (int i = 11; i < 30; i++) {
            clients.add(client(i, 100, 20, 20, i));
        }
        Run run = new Run(SHAPES.maximumColumns(), 16, false).serve(clients);
        assertThat(run.planner.availablePages()).isEqualTo(SHAPES.maximumColumns());
        assertThat(run.ended.indexOf(10L)).as("later requests do not overtake").isEqualTo(10);
    }

    @Test
    void pagesOfUnreadPromptsAreTaken() {
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            clients.add(client(0, 256, 1, 1, i));
        }
        Run run = new Run(2 * 16, 16, false);
        assertThat(run.serve(clients).preemptions()).as("two prompts at a time").isZero();
    }
}

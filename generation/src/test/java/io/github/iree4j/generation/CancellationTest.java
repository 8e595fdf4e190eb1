package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each request of a mix, cancelled before and after each step, with a model in Java. */
@Timeout(120)
class CancellationTest {
    private static final StepShapes SHAPES = new StepShapes(2, 8, 2);
    private static final int PAGES = 14;
    private static final int HOST_PAGES = 5;

    /** Some prompts begin alike, and some repeat themselves. */
    private static final List<GenerationRequest> REQUESTS = List.of(
            GenerationRequest.of(6, 1, 2, 3, 4, 5),
            GenerationRequest.of(7, 1, 2, 3, 4, 6, 7),
            GenerationRequest.of(8, 7, 7, 7, 7, 7),
            GenerationRequest.of(5, 1, 2, 3, 4, 5, 8, 9),
            GenerationRequest.of(9, 7, 7, 7, 8));

    /** The mix, in which a request is cancelled at a moment: moments are before and after the steps. */
    private static final class Mix implements StepRunner {
        private final FakeLoop loop;
        private final int victim;
        private final int moment;
        private final boolean otherThread;
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch submitted = new CountDownLatch(1);
        private final List<Generation> generations = new ArrayList<>(); // written before the first moment
        private @Nullable Generation latecomer;
        final int[] ends = new int[REQUESTS.size()]; // how many moments were before the ends
        int moments;
        int checks; // first moments of steps behind the cancellation

        Mix(int stepsAhead, int victim, int moment, boolean otherThread) {
            this.victim = victim;
            this.moment = moment;
            this.otherThread = otherThread;
            this.loop = new FakeLoop(SHAPES, PAGES).rows(2, 4).hasty().hostPages(HOST_PAGES);
            if (stepsAhead > 1) {
                loop.alike(0).stepsAhead(stepsAhead);
            } else {
                loop.alike(3).proposer(Mix::propose);
            }
            loop.runner(this, loop.model::scrub).start();
        }

        /** Proposes the tokens of the answers, but every third token is wrong. */
        private static Proposer.Proposals propose(List<Sequence> sequences, int[] most) {
            for (int row = 0; row < most.length; row++) {
                Sequence each = sequences.get(row);
                List<Integer> answer = PagedModel.expected(each.generation().request());
                for (int i = 0; i < most[row]; i++) {
                    int at = each.length() + i;
                    int token = answer.get(at - each.promptLength());
                    each.tokens()[at] = at % 3 == 0 ? (token + 1) % PagedModel.VOCABULARY : token;
                }
            }
            return new Proposer.Proposals(most, 0, 0);
        }

        /** Runs the mix to its end. */
        Mix run() throws InterruptedException {
            for (int i = 0; i < REQUESTS.size(); i++) {
                int number = i;
                generations.add(loop.submit(REQUESTS.get(i)));
                generations.getLast().result().whenComplete((_, _) -> ends[number] = moments);
                FakeLoop.await(begun); // the first request is alone in its first step
            }
            submitted.countDown();
            for (Generation each : generations) {
                check(each);
            }
            if (moments > moment) {
                check(Objects.requireNonNull(latecomer));
            }
            loop.close();
            assertThat(loop.model.violations()).as(what()).isEmpty();
            assertThat(loop.availablePages()).as(what()).isEqualTo(PAGES - 1);
            return this;
        }

        private String what() {
            return "request %d cancelled at %d%s".formatted(victim, moment, otherThread ? " by another thread" : "");
        }

        private void check(Generation generation) throws InterruptedException {
            List<Integer> expected = PagedModel.expected(generation.request());
            List<Integer> tokens = new ArrayList<>();
            try {
                for (OptionalInt next = generation.next(); next.isPresent(); next = generation.next()) {
                    tokens.add(next.getAsInt());
                }
            } catch (IreeException e) {
                assertThat(e.code()).as(what()).isEqualTo(StatusCode.CANCELLED);
                assertThat(generation.number()).as(what()).isEqualTo(victim);
                assertThat(tokens).as(what()).isEqualTo(expected.subList(0, tokens.size()));
                return;
            }
            assertThat(tokens).as(what()).isEqualTo(expected);
        }

        boolean isCancelled() {
            return generations.get(victim).result().isCompletedExceptionally();
        }

        @Override
        public void run(Step step, Logits logits) {
            begin(step);
            loop.model.run(step, logits);
            pass();
        }

        @Override
        public boolean runsAhead(Entry entry) {
            return loop.model.runsAhead(entry);
        }

        @Override
        public void runAll(Step step, Logits logits, Consumer<Step> each) {
            begin(step);
            loop.model.runAll(step, logits, computed -> {
                pass();
                each.accept(computed);
            });
        }

        private void begin(Step step) {
            begun.countDown();
            FakeLoop.await(submitted);
            if (moments > moment) {
                checkFreed(step);
            }
            pass();
        }

        private void pass() {
            if (moments++ != moment) {
                return;
            }
            latecomer = loop.submit(GenerationRequest.of(1, 10)); // so that there is a later step
            Generation generation = generations.get(victim);
            if (otherThread) {
                try {
                    Thread.ofPlatform().start(generation::cancel).join();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            } else {
                generation.cancel();
            }
        }

        /** Checks that the victim has gone, and that all pages are free except for the pages of the others. */
        private void checkFreed(Step step) {
            checks++;
            StepPlanner planner = loop.planner();
            Set<Integer> held = new HashSet<>();
            int hosted = 0;
            for (Sequence each : planner.sequences()) {
                for (int i = 0; i < each.pageCount(); i++) {
                    held.add(each.page(i));
                }
                hosted += each.saved().length;
                expect(each.generation() != generations.get(victim), "the victim is still there");
            }
            expect(
                    step.sequences().stream().noneMatch(each -> each.generation() == generations.get(victim)),
                    "a step has the victim");
            expect(planner.availablePages() == PAGES - 1 - held.size(), "pages of nobody");
            expect(planner.availableHostPages() == HOST_PAGES - hosted, "pages of nobody on the host");
        }

        private void expect(boolean is, String otherwise) {
            if (!is) {
                loop.model.violations().add(otherwise + " at " + moments);
            }
        }
    }

    private static void cancelEverywhere(Mix undisturbed, int stepsAhead) throws InterruptedException {
        for (int victim = 0; victim < REQUESTS.size(); victim++) {
            int cancelled = 0;
            for (int moment = 0; moment < undisturbed.moments; moment++) {
                for (boolean otherThread : new boolean[] {false, true}) {
                    Mix mix = new Mix(stepsAhead, victim, moment, otherThread).run();
                    assertThat(mix.isCancelled()).as(mix.what()).isEqualTo(moment < undisturbed.ends[victim]);
                    assertThat(mix.checks).as(mix.what()).isPositive();
                    cancelled += mix.isCancelled() ? 1 : 0;
                }
            }
            assertThat(cancelled).as("request %d", victim).isEqualTo(2 * undisturbed.ends[victim]);
        }
    }

    @Test
    void aRequestCancelledAtAnyMomentFreesItsPagesBeforeTheNextStep() throws InterruptedException {
        Mix undisturbed = new Mix(1, 0, Integer.MAX_VALUE, false).run();
        GeneratorStatistics statistics = undisturbed.loop.statistics();
        assertThat(statistics.preemptions()).isPositive();
        assertThat(statistics.restoredPages()).isPositive();
        assertThat(statistics.sharedTokens()).isPositive();
        assertThat(statistics.acceptedTokens()).isBetween(1L, statistics.proposedTokens() - 1);
        cancelEverywhere(undisturbed, 1);
    }

    @Test
    void aRequestCancelledBetweenStepsAheadFreesItsPagesBeforeTheNextSubmission() throws InterruptedException {
        Mix undisturbed = new Mix(3, 0, Integer.MAX_VALUE, false).run();
        GeneratorStatistics statistics = undisturbed.loop.statistics();
        assertThat(statistics.preemptions()).isPositive();
        assertThat(statistics.sharedTokens()).isPositive();
        assertThat(undisturbed.loop.model.stepsAhead()).isGreaterThan(3);
        cancelEverywhere(undisturbed, 3);
    }
}

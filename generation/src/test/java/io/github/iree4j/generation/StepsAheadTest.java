package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Decode steps submitted before the step before has ended, with a model in Java. */
@Tag("long")
@Timeout(600)
class StepsAheadTest {
    private static final int TRIALS = Effort.rounds(1_600, 10_000);
    private static final long SEED = Effort.seed(StepsAheadTest.class, TRIALS + " trials", 64);
    private static final StepShapes SHAPES = new StepShapes(4, 8, 8);

    /** Stop tokens end some answers between the steps, and some logits are no numbers, also behind the end of an answer. */
    @Test
    void tokensMatchStepsOneAfterTheOther() {
        long ahead = 0;
        long preemptions = 0;
        int spoilt = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            FakeLoop loop = loop(random);
            loop.model.someSpoil();
            loop.start();
            List<Generation> generations = submit(loop, random);
            for (Generation each : generations) {
                if (PagedModel.isSpoilt(each.request())) {
                    spoilt++;
                    assertThatThrownBy(() -> each.result().await()).hasMessageContaining("is NaN");
                } else {
                    checkTokens(each, trial);
                }
            }
            preemptions += loop.statistics().preemptions();
            ahead += loop.model.stepsAhead();
            end(loop);
        }
        assertThat(ahead).as("steps ahead").isGreaterThan(TRIALS * 2L);
        assertThat(preemptions).as("trials are short of pages").isGreaterThan(TRIALS / 10);
        assertThat(spoilt).as("failed requests").isGreaterThan(TRIALS / 2);
    }

    /**
     * Searches for answers whose stop token, once read by a step ahead, leaves infinities behind the answer. A neighbour
     * gets the page as its next page, and a later prompt shares the first page.
     */
    @Test
    void infinitiesBehindAStopTokenAreNotReadByOthers() {
        GenerationRequest neighbour = GenerationRequest.of(4, 0, 0);
        while (PagedModel.isSpoilt(neighbour)) {
            neighbour = GenerationRequest.of(4, 0, neighbour.prompt()[1] + 1);
        }
        int found = 0;
        for (int first = 1; first < PagedModel.VOCABULARY; first++) {
            for (int second = 0; second < PagedModel.VOCABULARY; second++) {
                GenerationRequest request = GenerationRequest.of(3, first, second);
                List<Integer> tokens = PagedModel.expected(request);
                request = request.stopAt(Set.of(tokens.get(1)));
                if (!tokens.get(0).equals(tokens.get(1))
                        && PagedModel.isSpoiling(first, second, tokens.get(0), tokens.get(1))
                        && !PagedModel.isSpoilt(request)) {
                    found++;
                    CountDownLatch submitted = new CountDownLatch(1);
                    FakeLoop loop = new FakeLoop(new StepShapes(2, 3, 3), 5)
                            .rows(2, 2)
                            .alike(0)
                            .stepsAhead(2);
                    loop.model.someSpoil();
                    loop.waitFor(submitted).start();
                    loop.submitFirst(GenerationRequest.of(1, 1));
                    Generation ending = loop.submit(request);
                    Generation next = loop.submit(neighbour);
                    submitted.countDown();
                    checkTokens(ending, found);
                    checkTokens(next, found);
                    int[] prompt = {first, second, 0};
                    while (PagedModel.isSpoilt(GenerationRequest.of(1, prompt))) {
                        prompt[2]++;
                    }
                    checkTokens(loop.submit(GenerationRequest.of(1, prompt)), found);
                    end(loop);
                }
            }
        }
        assertThat(found).isPositive();
    }

    @Test
    void aFailedStepFailsTheLaterStepsAndNoOtherRequest() {
        int failed = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            FakeLoop loop = loop(random);
            AtomicInteger left = new AtomicInteger(random.nextInt(20));
            loop.before(step -> {
                        if (left.getAndDecrement() == 0) {
                            loop.model.spoil(step);
                            throw IreeException.of(StatusCode.INTERNAL, "broken");
                        }
                    })
                    .start();
            for (Generation each : submit(loop, random)) {
                try {
                    checkTokens(each, trial);
                } catch (IreeException e) {
                    assertThat(e).hasMessageContaining("broken");
                    failed++;
                }
            }
            end(loop);
        }
        assertThat(failed).isGreaterThan(TRIALS / 2);
    }

    @Test
    void aRequestCancelledBetweenTheStepsEndsAndChangesNoOther() throws InterruptedException {
        int cancelled = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            FakeLoop loop = loop(random).start();
            List<Generation> generations = submit(loop, random);
            Generation victim = generations.get(random.nextInt(generations.size()));
            for (int left = random.nextInt(4); left > 0 && victim.next().isPresent(); ) {
                left--;
            }
            victim.cancel();
            for (Generation each : generations) {
                if (each != victim || !each.result().isCompletedExceptionally()) {
                    checkTokens(each, trial);
                } else {
                    assertThatThrownBy(() -> each.result().await()).hasMessageContaining("cancelled");
                    cancelled++;
                }
            }
            end(loop);
        }
        assertThat(cancelled).isGreaterThan(TRIALS / 4);
    }

    @Test
    void stepsWithPromptsReadInBetweenDoNotRunAhead() {
        FakeLoop loop = new FakeLoop(SHAPES, 40).rows(4, 4).stepsAhead(8).start();
        loop.submit(GenerationRequest.of(8, 1, 2)).result().await();
        assertThat(loop.model.stepsAhead()).as("7 tokens after the first").isEqualTo(6);
        end(loop);

        CountDownLatch submitted = new CountDownLatch(1);
        FakeLoop pieces = new FakeLoop(new StepShapes(4, 8, 1), 40)
                .rows(1, 4)
                .stepsAhead(8)
                .waitFor(submitted)
                .start();
        Generation first = pieces.submitFirst(GenerationRequest.of(8, 1, 2));
        Generation second = pieces.submit(GenerationRequest.of(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2));
        submitted.countDown();
        first.result().await();
        second.result().await();
        assertThat(pieces.model.stepsAhead())
                .as("after the three pieces of the prompt")
                .isLessThan(6);
        end(pieces);
    }

    static FakeLoop loop(SplittableRandom random) {
        int columns = random.nextInt(2, 10);
        StepShapes shapes = new StepShapes(random.nextInt(1, 5), columns, random.nextInt(1, columns + 1));
        FakeLoop loop = new FakeLoop(shapes, columns + random.nextInt(1, 20))
                .rows(1 << random.nextInt(3), 1 << random.nextInt(4))
                .stepsAhead(random.nextInt(2, 9));
        return random.nextBoolean() ? loop.alike(random.nextInt(4)).hasty() : loop;
    }

    private static List<Generation> submit(FakeLoop loop, SplittableRandom random) {
        List<Generation> generations = new ArrayList<>();
        for (int i = random.nextInt(1, 15); i > 0; i--) {
            generations.add(loop.submit(request(loop, random)));
        }
        return generations;
    }

    static GenerationRequest request(FakeLoop loop, SplittableRandom random) {
        int most = loop.mostTokens();
        int[] prompt = random.ints(random.nextInt(1, most + 1), 0, PagedModel.VOCABULARY)
                .toArray();
        GenerationRequest request = GenerationRequest.of(random.nextInt(1, most - prompt.length + 2), prompt);
        return random.nextBoolean() ? request : request.stopAt(Set.of(random.nextInt(PagedModel.VOCABULARY)));
    }

    private static void checkTokens(Generation generation, int trial) {
        assertThat(generation.result().await().tokens())
                .as("trial %d, seed %d", trial, SEED)
                .isEqualTo(PagedModel.expected(generation.request()));
    }

    static void end(FakeLoop loop) {
        loop.close();
        assertThat(loop.model.violations()).isEmpty();
        assertThat(loop.availablePages()).as("free pages").isEqualTo(loop.pages() - 1);
    }
}

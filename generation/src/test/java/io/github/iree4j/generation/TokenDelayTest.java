package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Why a token came late, with a clock that only steps advance. */
@Tag("long")
@Timeout(300)
class TokenDelayTest {
    private static final int TRIALS = Effort.rounds(300, 3_000);
    private static final long SEED = Effort.seed(TokenDelayTest.class, TRIALS + " trials", 47);

    /** A prefill takes 10 s, a decode 1 s. */
    private static final ToLongFunction<Step> SECONDS =
            step -> Duration.ofSeconds(step.entry().prefill() ? 10 : 1).toNanos();

    /**
     * Returns the ended generations of requests. The others arrive during the given step; the first step takes no time.
     *
     * @param arrival number of the step, from 1
     */
    private static List<Generation> run(
            StepShapes shapes, int pages, ToLongFunction<Step> nanos, int arrival, List<GenerationRequest> requests) {
        AtomicLong clock = new AtomicLong();
        AtomicInteger steps = new AtomicInteger();
        List<Generation> generations = new ArrayList<>();
        FakeLoop loop = new FakeLoop(shapes, pages).rows(1, 4).hasty().clock(clock::get);
        loop.before(step -> {
            int number = steps.incrementAndGet();
            clock.addAndGet(number == 1 ? 0 : nanos.applyAsLong(step));
            if (number == arrival) {
                requests.stream().skip(1).map(loop::submit).forEach(generations::add);
            }
        });
        try (loop) {
            Generation first = loop.start().submit(requests.getFirst());
            first.result().await();
            generations.forEach(each -> each.result().await());
            generations.addFirst(first);
        }
        return generations;
    }

    private static TokenDelay delay(int index, int time, int own, int waiting, int prefills, int decodes) {
        return new TokenDelay(
                index,
                Duration.ofSeconds(time),
                Duration.ofSeconds(own),
                Duration.ofSeconds(waiting),
                Duration.ofSeconds(prefills),
                Duration.ofSeconds(decodes),
                0);
    }

    @Test
    void aPromptOfAnotherRequestDelaysATokenByASinglePiece() {
        GenerationRequest prompt = GenerationRequest.of(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        List<Generation> both =
                run(new StepShapes(2, 20, 1), 60, SECONDS, 3, List.of(GenerationRequest.of(12, 5), prompt));
        assertThat(both.getFirst().firstDelay()).contains(delay(0, 0, 0, 0, 0, 0));
        assertThat(both.getFirst().slowestDelay()).contains(delay(3, 11, 1, 0, 10, 0));
        assertThat(both.getLast().firstDelay()).contains(delay(0, 54, 50, 0, 0, 4));
        assertThat(both.getLast().slowestDelay()).as("a single token").isEmpty();
    }

    @Test
    void aRequestWithoutPagesWaitsForTheStepsOfOthers() {
        List<GenerationRequest> requests =
                List.of(GenerationRequest.of(3, 1, 2, 3), GenerationRequest.of(1, 4, 5, 6, 7, 8));
        List<Generation> both = run(new StepShapes(2, 3, 3), 4, SECONDS, 1, requests); // pages for a single request
        assertThat(both.getLast().firstDelay()).contains(delay(0, 12, 10, 2, 0, 0));
    }

    @Test
    void aPreemptedRequestKnowsOfThePreemption() {
        List<GenerationRequest> requests = List.of(GenerationRequest.of(6, 1), GenerationRequest.of(6, 2));
        List<Generation> both = run(new StepShapes(2, 3, 3), 4, SECONDS, 1, requests);
        assertThat(both.getFirst().slowestDelay()).contains(delay(2, 11, 1, 0, 10, 0));
        TokenDelay delay = both.getLast().slowestDelay().orElseThrow();
        assertThat(delay.preemptions()).isEqualTo(1);
        assertThat(delay.waiting()).isPositive();
    }

    @Test
    void thePartsAreTheWholeTime() {
        int preempted = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            StepShapes shapes = new StepShapes(random.nextInt(1, 5), 6, random.nextInt(1, 7));
            int most = shapes.maximumTokens();
            List<GenerationRequest> requests = new ArrayList<>();
            for (int i = random.nextInt(2, 12); i > 0; i--) {
                int length = random.nextInt(1, most);
                int[] prompt = random.ints(length, 0, PagedModel.VOCABULARY).toArray();
                requests.add(GenerationRequest.of(random.nextInt(1, most - length + 2), prompt)
                        .stopAt(Set.of(random.nextInt(PagedModel.VOCABULARY))));
            }
            for (Generation each :
                    run(shapes, random.nextInt(7, 20), _ -> random.nextInt(1_000_000_000), 1, requests)) {
                int tokens = each.result().await().tokens().size();
                assertThat(each.slowestDelay().isPresent()).isEqualTo(tokens > 1);
                assertWhole(each.firstDelay().orElseThrow(), trial);
                if (tokens > 1) {
                    assertWhole(each.slowestDelay().orElseThrow(), trial);
                    preempted += each.slowestDelay().orElseThrow().preemptions();
                }
            }
        }
        assertThat(preempted).as("trials are short of pages").isGreaterThan(TRIALS / 20);
    }

    private static void assertWhole(TokenDelay delay, int trial) {
        assertThat(delay.own().plus(delay.waiting()).plus(delay.prefills()).plus(delay.decodes()))
                .as("%s of trial %d, seed %d", delay, trial, SEED)
                .isEqualTo(delay.time());
    }
}

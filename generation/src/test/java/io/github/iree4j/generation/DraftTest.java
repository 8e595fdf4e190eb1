package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.generation.FakeDraft.Mistake;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Proposals by a draft. That proposals change no token is a claim of {@link GenerationLoopTest}. */
@Timeout(60)
class DraftTest {
    private static final Entry PREFILL = new Entry("prefill_bs4", true, 4);
    private static final Entry DECODE = new Entry("decode_bs4", false, 4);
    private static final int PAGES = 60;

    private static FakeDraft draft(StepShapes shapes) {
        return new FakeDraft(shapes, PAGES, new SplittableRandom(5));
    }

    private static FakeLoop loop(StepShapes shapes, FakeDraft draft, int proposals) {
        return new FakeLoop(shapes, PAGES).rows(4, 4).alike(proposals).proposer(draft.proposer(PREFILL, DECODE));
    }

    private static void check(FakeLoop loop, FakeDraft draft, List<Generation> generations) {
        for (Generation each : generations) {
            assertThat(each.result().await().tokens()).isEqualTo(PagedModel.expected(each.request()));
        }
        loop.close();
        assertThat(loop.model.violations()).isEmpty();
        assertThat(draft.model.violations()).isEmpty();
    }

    @Test
    void aStepAcceptsAllTokensOfACorrectDraft() {
        for (int stride = 1; stride < 6; stride++) {
            for (int proposals = 1; proposals < 8; proposals++) {
                FakeDraft draft = draft(new StepShapes(stride, 50, 50));
                FakeLoop loop = loop(new StepShapes(stride, 50, 50), draft, proposals);
                StringBuilder steps = new StringBuilder();
                loop.before(step -> steps.append(
                                step.proposing() > 0 ? 'v' : step.entry().prefill() ? 'p' : 'd'))
                        .start();
                int rounds = 30 / (proposals + 1);
                int tokens = 1 + rounds * (proposals + 1); // the step that reads the prompt gives the first
                check(loop, draft, List.of(loop.submit(GenerationRequest.of(tokens, 1, 2, 3, 4, 5))));
                assertThat(steps.toString()).isEqualTo("p" + "v".repeat(rounds));
                assertThat(loop.statistics().acceptedTokens()).isEqualTo((long) rounds * proposals);
                assertThat(loop.statistics().proposedTokens()).isEqualTo((long) rounds * proposals);
            }
        }
    }

    @Test
    void aDraftFindingTokensItselfRunsAhead() {
        for (int proposals = 2; proposals < 8; proposals++) {
            FakeDraft draft = draft(new StepShapes(3, 50, 50));
            draft.model.topOne();
            FakeLoop loop = loop(new StepShapes(3, 50, 50), draft, proposals).start();
            int rounds = 30 / (proposals + 1);
            check(loop, draft, List.of(loop.submit(GenerationRequest.of(1 + rounds * (proposals + 1), 1, 2, 3, 4, 5))));
            assertThat(loop.statistics().acceptedTokens()).isEqualTo((long) rounds * proposals);
            // The first round reads the prompt, and later rounds a token more, by a step before.
            assertThat(draft.model.stepsAhead()).isBetween(rounds * (proposals - 2), rounds * (proposals - 1));
        }
    }

    /** Logits that are no numbers end the proposals of a sequence, also between steps submitted at once, and change no token. */
    @Test
    void failuresOfStepsAheadReachNoRequest() {
        int ahead = 0;
        for (int trial = 0; trial < 200; trial++) {
            SplittableRandom random = new SplittableRandom(trial);
            StepShapes shapes = new StepShapes(random.nextInt(1, 4), 12, random.nextInt(1, 12));
            FakeDraft draft = new FakeDraft(shapes, PAGES, random.split())
                    .makes(FakeDraft.Mistake.FAILURE, random.nextInt(3) * 0.05)
                    .makes(FakeDraft.Mistake.LOSS, random.nextInt(3) * 0.01);
            draft.model.topOne().someSpoil();
            FakeLoop loop = loop(shapes, draft, random.nextInt(2, 7)).start();
            List<Generation> generations = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                int[] prompt = random.ints(random.nextInt(1, 6), 0, PagedModel.VOCABULARY)
                        .toArray();
                generations.add(loop.submit(GenerationRequest.of(6, prompt)));
            }
            check(loop, draft, generations);
            ahead += draft.model.stepsAhead();
        }
        assertThat(ahead).isGreaterThan(500);
    }

    @Test
    void aCorrectDraftReadsEachTokenOnce() {
        FakeDraft draft = draft(new StepShapes(4, 14, 14));
        AtomicInteger prefills = new AtomicInteger();
        AtomicInteger decodes = new AtomicInteger();
        draft.model.before(step -> (step.entry().prefill() ? prefills : decodes).addAndGet(step.count(0)));
        FakeLoop loop = loop(new StepShapes(4, 14, 14), draft, 4).start();
        // After the prompt and a token, of 4 right tokens the draft has read 3. Then the fourth and the next are
        // missing.
        check(loop, draft, List.of(loop.submit(GenerationRequest.of(31, 1, 2, 3, 4, 5, 6, 7))));
        assertThat(prefills).hasValue(8);
        assertThat(decodes).hasValue(3 + 5 * 5);
    }

    @Test
    void pagesLostByASequenceAreReadAgain() {
        for (int hostPages : new int[] {0, 40}) {
            StepShapes shapes = new StepShapes(2, 12, 3);
            FakeDraft draft = new FakeDraft(shapes, 16, new SplittableRandom(5));
            CountDownLatch submitted = new CountDownLatch(1);
            FakeLoop loop = new FakeLoop(shapes, 16)
                    .rows(4, 4)
                    .alike(3)
                    .hostPages(hostPages)
                    .hasty()
                    .proposer(draft.proposer(PREFILL, DECODE))
                    .waitFor(submitted)
                    .start();
            List<Generation> generations = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                generations.add(loop.submit(GenerationRequest.of(18, i, i + 1, 3)));
            }
            submitted.countDown();
            check(loop, draft, generations);
            assertThat(loop.statistics().preemptions()).isPositive();
            assertThat(loop.statistics().restoredPages() > 0).isEqualTo(hostPages > 0);
            assertThat(loop.statistics().acceptedTokens())
                    .isGreaterThan(20)
                    .isEqualTo(loop.statistics().proposedTokens());
        }
    }

    @Test
    void aBeginningReadByTheDraftForAnotherSequenceIsNotReadAgain() {
        FakeDraft draft = draft(new StepShapes(4, 14, 14));
        List<Integer> read = new ArrayList<>();
        draft.model.before(step -> {
            if (step.entry().prefill()) {
                read.add(step.count(0));
            }
        });
        FakeLoop loop = loop(new StepShapes(4, 14, 14), draft, 2).start();
        int[] prompt = IntStream.range(0, 20).map(each -> each % 7).toArray();
        loop.submit(GenerationRequest.of(4, prompt)).result().await();
        prompt[18] = 9; // the fifth page is another
        check(loop, draft, List.of(loop.submit(GenerationRequest.of(4, prompt))));
        assertThat(read).containsExactly(21, 5);
    }

    @Test
    void theLastTokenIsReadAgainForItsLogitsThoughThePageStillHoldsTheToken() {
        FakeDraft draft = draft(new StepShapes(8, 7, 7));
        AtomicInteger prefills = new AtomicInteger();
        draft.model.before(step -> prefills.addAndGet(step.entry().prefill() ? 1 : 0));
        FakeLoop loop = loop(new StepShapes(8, 7, 7), draft, 4).start();
        GenerationRequest request = GenerationRequest.of(5, 1, 2, 3); // reads fewer tokens than a page has
        loop.submit(request).result().await();
        check(loop, draft, List.of(loop.submit(request))); // in the same page
        assertThat(prefills).hasValue(1);
        assertThat(loop.statistics().acceptedTokens()).isEqualTo(6);
        assertThat(loop.statistics().proposedTokens()).isEqualTo(6);
    }

    @Test
    void aLongPromptIsReadInPiecesBetweenOtherSteps() {
        StepShapes shapes = new StepShapes(2, 20, 2);
        FakeDraft draft = draft(shapes);
        StringBuilder steps = new StringBuilder();
        draft.model.before(step -> {
            if (step.entry().prefill()) {
                assertThat(step.tokensPerRow()).isLessThanOrEqualTo(4);
                steps.append('r');
            }
        });
        FakeLoop loop = loop(shapes, draft, 1)
                .before(step ->
                        steps.append(step.proposing() > 0 ? 'v' : step.entry().prefill() ? 'p' : 'd'))
                .start();
        check(
                loop,
                draft,
                List.of(loop.submit(
                        GenerationRequest.of(12, IntStream.range(0, 11).toArray()))));
        // After the third piece two tokens of the answer are missing, for decode steps.
        assertThat(steps.toString()).startsWith("ppp" + "rd" + "rd" + "rv").containsPattern("v+d?$");
    }

    @Test
    void aSequenceWithAFailedDraftGetsNoFurtherProposalsAndItsPagesAreZeroed() {
        for (Mistake mistake : List.of(Mistake.FAILURE, Mistake.NO_NUMBER, Mistake.FOREIGN)) {
            StepShapes shapes = new StepShapes(2, 12, 12);
            FakeDraft draft = draft(shapes).makes(mistake, 1);
            AtomicInteger steps = new AtomicInteger();
            draft.model.before(_ -> steps.incrementAndGet());
            Set<Long> tokens = new TreeSet<>();
            FakeLoop loop = loop(shapes, draft, 3)
                    .before(step -> {
                        for (long each : step.tokens()) {
                            tokens.add(each);
                        }
                    })
                    .start();
            loop.submit(GenerationRequest.of(12, 1, 2, 3)).result().await();
            assertThat(steps).as("%s", mistake).hasValue(1);
            assertThat(draft.scrubbed).as("page 0, and the pages").contains(0, 1, 2);
            draft.makes(mistake, 0);
            check(loop, draft, List.of(loop.submit(GenerationRequest.of(13, 1, 2, 4))));
            assertThat(loop.statistics().proposedTokens()).isEqualTo(9);
            assertThat(loop.statistics().acceptedTokens()).isEqualTo(9);
            assertThat(tokens).allMatch(each -> each < PagedModel.VOCABULARY);
        }
    }

    @Test
    void aLostOrUnzeroableDraftProposesNothingAnyMore() {
        for (boolean lost : new boolean[] {true, false}) {
            StepShapes shapes = new StepShapes(2, 12, 12);
            FakeDraft draft = draft(shapes);
            if (lost) {
                draft.makes(Mistake.LOSS, 1);
            } else {
                draft.makes(Mistake.FAILURE, 1).failsToScrub(1);
            }
            FakeLoop loop = loop(shapes, draft, 3).start();
            loop.submit(GenerationRequest.of(12, 1, 2, 3)).result().await();
            draft.makes(Mistake.LOSS, 0).makes(Mistake.FAILURE, 0);
            draft.model.before(_ -> draft.model.violations().add("a step after the end"));
            check(loop, draft, List.of(loop.submit(GenerationRequest.of(12, 5, 6))));
            assertThat(loop.statistics().proposedTokens()).isZero();
        }
    }

    @Test
    void aDraftForShorterSequencesProposesNothingBeyondItsLength() {
        FakeDraft draft = draft(new StepShapes(2, 4, 4)); // reads up to 8 tokens, and so proposes the ninth
        FakeLoop loop = loop(new StepShapes(2, 20, 20), draft, 5).start();
        check(loop, draft, List.of(loop.submit(GenerationRequest.of(30, 1, 2, 3))));
        assertThat(loop.statistics().proposedTokens()).isEqualTo(5);
        assertThat(loop.statistics().acceptedTokens()).isEqualTo(5);
    }

    @Test
    void moreSequencesThanTheDraftsLargestFunctionGetNoProposals() {
        StepShapes shapes = new StepShapes(2, 12, 12);
        FakeDraft draft = draft(shapes);
        CountDownLatch submitted = new CountDownLatch(1);
        Entry pair = new Entry("decode_bs2", false, 2);
        List<Integer> rows = new ArrayList<>();
        draft.model.before(step -> rows.add(step.sequences().size()));
        FakeLoop loop = loop(shapes, draft, 2)
                .proposer(draft.proposer(PREFILL, pair))
                .waitFor(submitted)
                .start();
        List<Generation> generations = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            generations.add(loop.submit(GenerationRequest.of(4 + 8 * (i % 2), i, 2, 3)));
        }
        submitted.countDown();
        check(loop, draft, generations);
        assertThat(rows).isNotEmpty().allMatch(each -> each <= 2);
    }

    /** Returns the draft's steps for an answer of 200 tokens, with a draft whose steps take so many microseconds. */
    private static int steps(int micros) {
        StepShapes shapes = new StepShapes(4, 58, 58);
        FakeDraft draft = draft(shapes);
        AtomicLong now = new AtomicLong();
        AtomicInteger steps = new AtomicInteger();
        draft.model.before(_ -> {
            now.addAndGet(micros * 1000L);
            steps.incrementAndGet();
        });
        FakeLoop loop = loop(shapes, draft, 4)
                .alike(new Speculation(4))
                .proposer(draft.proposer(List.of(PREFILL), List.of(DECODE), now::get))
                .clock(now::get)
                .before(_ -> now.addAndGet(1_000_000))
                .start();
        Generation answer = loop.submit(GenerationRequest.of(200, 1, 2, 3));
        check(loop, draft, List.of(answer));
        return steps.get();
    }

    @Test
    void aSlowDraftIsTriedNowAndThenOnly() {
        assertThat(steps(50)).as("five tokens in 1.2 ms").isGreaterThan(150);
        assertThat(steps(2000)).as("five tokens in 9 ms").isLessThan(40);
    }

    @Test
    void aDraftTakingTimeAndProposingNothingIsAskedNowAndThenOnly() {
        AtomicLong now = new AtomicLong();
        AtomicInteger asked = new AtomicInteger();
        Proposer nothing = (_, most) -> {
            asked.incrementAndGet();
            now.addAndGet(1_000_000);
            return new Proposer.Proposals(new int[most.length], 0, 1_000_000);
        };
        FakeLoop loop = new FakeLoop(new StepShapes(4, 58, 58), 60)
                .alike(new Speculation(4))
                .proposer(nothing)
                .clock(now::get)
                .before(_ -> now.addAndGet(1_000_000))
                .start();
        loop.submit(GenerationRequest.of(200, 1, 2, 3)).result().await();
        loop.close();
        assertThat(asked.get()).as("of 200 steps").isBetween(2, 10);
    }

    @Test
    void longPromptsReadByTheDraftForShortAnswersDoNotPay() {
        StepShapes shapes = new StepShapes(4, 20, 1);
        FakeDraft draft = draft(shapes);
        AtomicLong now = new AtomicLong();
        AtomicInteger pieces = new AtomicInteger();
        draft.model.before(step -> {
            now.addAndGet(step.entry().prefill() ? 5_000_000 : 50_000);
            pieces.addAndGet(step.entry().prefill() ? 1 : 0);
        });
        FakeLoop loop = loop(shapes, draft, 4)
                .alike(new Speculation(4))
                .proposer(draft.proposer(List.of(PREFILL), List.of(DECODE), now::get))
                .clock(now::get)
                .before(_ -> now.addAndGet(1_000_000))
                .start();
        List<Generation> generations = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            int[] prompt =
                    new SplittableRandom(i).ints(40, 0, PagedModel.VOCABULARY).toArray();
            generations.add(loop.submit(GenerationRequest.of(20, prompt)));
            generations.getLast().result().await();
        }
        check(loop, draft, generations);
        assertThat(pieces.get()).as("of 400 pieces").isLessThan(150);
    }

    @Test
    void theTimeOfTheDraftIsTimeOfTheRequest() {
        StepShapes shapes = new StepShapes(2, 12, 12);
        FakeDraft draft = draft(shapes);
        AtomicLong now = new AtomicLong();
        draft.model.before(_ -> now.addAndGet(Duration.ofSeconds(1).toNanos()));
        FakeLoop loop = loop(shapes, draft, 3)
                .proposer(draft.proposer(List.of(PREFILL), List.of(DECODE), now::get))
                .clock(now::get)
                .start();
        Generation answer = loop.submit(GenerationRequest.of(5, 1, 2, 3));
        check(loop, draft, List.of(answer));
        TokenDelay slowest = answer.slowestDelay().orElseThrow();
        assertThat(slowest.own()).isEqualTo(slowest.time()).isEqualTo(Duration.ofSeconds(3));
    }
}

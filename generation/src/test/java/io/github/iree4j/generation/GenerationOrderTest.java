package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.TransientFailureException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which request is next, and how many there may be. */
@Timeout(60)
class GenerationOrderTest {
    private static final StepShapes SHAPES = new StepShapes(2, 4, 4);

    @Test
    void aTenantWithManyRequestsDoesNotDelayAnother() {
        CountDownLatch submitted = new CountDownLatch(1);
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        try (FakeLoop loop = new FakeLoop(SHAPES, 10).waitFor(submitted).start()) {
            List<Generation> all = new ArrayList<>();
            for (String tenant : List.of("a", "a", "a", "a", "b", "b")) {
                Generation generation = loop.submit(GenerationRequest.of(2, 1).tenant(tenant));
                generation.result().whenComplete((_, _) -> order.add(tenant));
                all.add(generation);
            }
            submitted.countDown();
            all.forEach(each -> each.result().await());
        }
        assertThat(order).hasSize(6); // the first step begins with the first request, or with all
        assertThat(order.indexOf("b")).isLessThanOrEqualTo(2);
        assertThat(order.lastIndexOf("b")).isLessThanOrEqualTo(4);
    }

    /** Another thread wakes the reader: the generator's thread is in a step, from which only the reader lets the thread go. */
    @Test
    void aReaderReceivesATokenWhileTheNextStepRuns() throws Exception {
        CompletableFuture<Thread> reading = new CompletableFuture<>();
        CountDownLatch received = new CountDownLatch(1);
        AtomicInteger steps = new AtomicInteger();
        Consumer<Step> hook = _ -> {
            if (steps.incrementAndGet() == 1) {
                while (reading.join().getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
            } else {
                FakeLoop.await(received);
            }
        };
        try (FakeLoop loop = new FakeLoop(SHAPES, 10).before(hook).start()) {
            Generation generation = loop.submit(GenerationRequest.of(2, 1));
            Thread reader = Thread.ofPlatform().start(() -> {
                reading.complete(Thread.currentThread());
                try {
                    generation.next();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                received.countDown();
            });
            assertThat(generation.result().await().tokens()).hasSize(2);
            reader.join();
        }
    }

    @Test
    void aTenantHasOnlyAsManyUnfinishedRequestsAsTheQuotaAllows() throws Exception {
        CountDownLatch submitted = new CountDownLatch(1);
        try (FakeLoop loop = new FakeLoop(SHAPES, 10)
                        .requestsPerTenant(2)
                        .waitFor(submitted)
                        .start();
                AutoCloseable _ = submitted::countDown) {
            GenerationRequest request = GenerationRequest.of(1, 1).tenant("a");
            Generation first = loop.submitFirst(request);
            Generation second = loop.submit(request);
            assertThatThrownBy(() -> loop.submit(request))
                    .isInstanceOf(TransientFailureException.class)
                    .hasMessageContaining("tenant 'a' has 2 unfinished requests to 'fake'");
            Generation other = loop.submit(GenerationRequest.of(1, 1).tenant("b"));
            second.cancel();
            assertThatThrownBy(() -> loop.submit(request))
                    .as("until the step has ended")
                    .isInstanceOf(TransientFailureException.class);
            submitted.countDown();
            for (Generation each : List.of(first, other)) {
                assertThat(each.result().await().tokens()).hasSize(1);
            }
            loop.submit(request).result().await();
        }
    }

    @Test
    void moreRequestsThanMayWaitAreRejectedForNow() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try (FakeLoop loop = new FakeLoop(SHAPES, 6)
                        .maximumWaiting(2)
                        .before(_ -> {
                            started.countDown();
                            try {
                                end.await();
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                        })
                        .start();
                AutoCloseable _ = end::countDown) {
            Generation running = loop.submit(GenerationRequest.of(1, 1));
            started.await();
            loop.submit(GenerationRequest.of(1, 2));
            loop.submit(GenerationRequest.of(1, 3));
            assertThatThrownBy(() -> loop.submit(GenerationRequest.of(1, 4)))
                    .isInstanceOf(TransientFailureException.class)
                    .hasMessageContaining("2 requests wait for 'fake'");
            end.countDown();
            assertThat(running.result().await().tokens()).hasSize(1);
        }
    }

    @Test
    void aPromptBeginningLikeAnEarlierPromptReadsOnlyTheRest() {
        FakeLoop loop = new FakeLoop(new StepShapes(4, 8, 8), 20).start();
        int[] prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9};
        assertThat(loop.submit(GenerationRequest.of(3, prompt)).result().await().sharedTokens())
                .isZero();
        GenerationRequest again = GenerationRequest.of(3, 1, 2, 3, 4, 5, 6, 7, 8, 10, 1);
        GenerationResult result = loop.submit(again).result().await();
        assertThat(result.sharedTokens()).isEqualTo(8);
        assertThat(result.tokens()).isEqualTo(PagedModel.expected(again));
        // The last token of a prompt is always read, since its logits are needed.
        GenerationRequest whole = GenerationRequest.of(3, 1, 2, 3, 4, 5, 6, 7, 8);
        assertThat(loop.submit(whole).result().await().sharedTokens()).isEqualTo(4);
        loop.close();
        GeneratorStatistics statistics = loop.statistics();
        assertThat(statistics.promptTokens()).isEqualTo(9 + 10 + 8);
        assertThat(statistics.sharedTokens()).isEqualTo(8 + 4);
        assertThat(statistics.generatedTokens()).isEqualTo(9);
        assertThat(statistics.prefillSteps()).isEqualTo(3);
        assertThat(statistics.decodeSteps()).isEqualTo(6);
        assertThat(statistics.keptPages()).isEqualTo(2);
        assertThat(statistics.freePages()).isEqualTo(17);
        assertThat(statistics.preemptions()).isZero();
        assertThat(loop.model.violations()).isEmpty();
    }

    @Test
    void theNextTurnOfAConversationReadsOnlyTheNewMessage() {
        FakeLoop loop = new FakeLoop(new StepShapes(2, 12, 12), 20).alike(0).start();
        GenerationRequest first = GenerationRequest.of(6, 1, 2, 3);
        List<Integer> conversation = new ArrayList<>(List.of(1, 2, 3));
        conversation.addAll(loop.submit(first).result().await().tokens());
        conversation.add(4);
        GenerationRequest second = GenerationRequest.of(
                2, conversation.stream().mapToInt(Integer::intValue).toArray());
        GenerationResult result = loop.submit(second).result().await();
        loop.close();
        assertThat(result.sharedTokens()).as("pages of the answer, too").isEqualTo(8);
        assertThat(result.tokens()).isEqualTo(PagedModel.expected(second));
        assertThat(loop.model.violations()).isEmpty();
    }

    /** Returns the steps, while a prompt arrives in the step of a number. */
    private static String steps(FakeLoop loop, int arrival, GenerationRequest running, GenerationRequest prompt) {
        StringBuilder steps = new StringBuilder();
        List<Generation> later = new ArrayList<>();
        AtomicInteger count = new AtomicInteger();
        loop.before(step -> {
                    steps.append(step.proposing() > 0 ? 'v' : step.entry().prefill() ? 'p' : 'd');
                    if (count.incrementAndGet() == arrival) {
                        later.add(loop.submit(prompt));
                    }
                })
                .start();
        loop.submit(running).result().await();
        later.getFirst().result().await();
        loop.close();
        return steps.toString();
    }

    @Test
    void aLongPromptDelaysOtherSequencesByASinglePiece() {
        FakeLoop loop = new FakeLoop(new StepShapes(2, 20, 1), 60).rows(1, 4);
        GenerationRequest prompt = GenerationRequest.of(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        assertThat(steps(loop, 3, GenerationRequest.of(12, 5), prompt)).isEqualTo("pdd" + "pdpdpdpdp" + "ddddd");
    }

    @Test
    void aPromptIsNotDelayedByVerifyingSteps() {
        FakeLoop loop = new FakeLoop(new StepShapes(2, 20, 1), 60).rows(1, 4).alike(3);
        GenerationRequest repeating = GenerationRequest.of(12, 5, 5, 5, 5, 5, 5);
        assertThat(steps(loop, 1, repeating, GenerationRequest.of(1, 1, 2, 3, 4, 5, 6, 7, 8)))
                .contains("v")
                .doesNotContainPattern("[vd]{2,}p");
    }
}

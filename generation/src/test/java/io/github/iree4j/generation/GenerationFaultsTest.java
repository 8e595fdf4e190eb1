package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Infinities in pages, pages that cannot be zeroed or copied, closing from within, and times and lengths out of range. */
@Timeout(60)
class GenerationFaultsTest {
    private static final StepShapes SHAPES = new StepShapes(2, 4, 4);

    @Test
    void invalidLogitsFailTheSequenceAndItsPagesAreZeroed() {
        List<Integer> scrubbed = new ArrayList<>();
        StepRunner broken = (step, logits) -> logits.reshape(
                        step, ElementType.F32, Shape.of(step.entry().batch(), 1, 3))
                .setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, 1, Float.NaN);
        FakeLoop loop = new FakeLoop(SHAPES, 10).runner(broken, scrubbed::add).start();
        Generation generation = loop.submit(GenerationRequest.of(1, 1, 2, 3));
        assertThatThrownBy(() -> generation.result().await()).hasMessageContaining("the logit of token 1 is NaN");
        loop.close();
        // Page 1 is full, but not kept for later prompts; page 0 may have taken what padding of the row computed.
        assertThat(scrubbed).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(loop.availablePages()).isEqualTo(9);
    }

    @Test
    void twoEqualOverflowingPromptsInAStepLeaveNoInfinities() {
        for (int stride = 1; stride < 5; stride++) {
            CountDownLatch submitted = new CountDownLatch(1);
            FakeLoop loop = new FakeLoop(new StepShapes(stride, 6, 6), 20)
                    .rows(4, 4)
                    .alike(0)
                    .waitFor(submitted)
                    .start();
            Generation first = loop.submitFirst(GenerationRequest.of(2, 1, 2));
            List<Generation> failing = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                failing.add(loop.submit(GenerationRequest.of(2, 3, 4, PagedModel.OVERFLOW, 5, 6)));
            }
            submitted.countDown();
            failing.forEach(
                    each -> assertThatThrownBy(() -> each.result().await()).hasMessageContaining("is NaN"));
            List<Generation> good = new ArrayList<>(List.of(first));
            for (int i = 0; i < 8; i++) {
                good.add(loop.submit(GenerationRequest.of(3, 7, i, 8)));
            }
            good.forEach(
                    each -> assertThat(each.result().await().tokens()).isEqualTo(PagedModel.expected(each.request())));
            loop.close();
            assertThat(loop.model.violations()).isEmpty();
            assertThat(loop.availablePages()).isEqualTo(19);
        }
    }

    /** Padding of a row writes to page 0, and neighbours multiply page 0 by zero: infinity times zero is no number. */
    @Test
    void anOverflowingPromptFailsNoNeighbour() {
        for (int stride = 1; stride < 5; stride++) {
            for (int place = 0; place < 4; place++) {
                CountDownLatch submitted = new CountDownLatch(1);
                FakeLoop loop = new FakeLoop(new StepShapes(stride, 12, 12), 60)
                        .rows(4, 4)
                        .waitFor(submitted)
                        .start();
                loop.submitFirst(GenerationRequest.of(1, 1));
                List<Generation> good = new ArrayList<>();
                Generation bad = null;
                for (int i = 0; i < 4; i++) {
                    int[] prompt = IntStream.range(i, 5 + 2 * i).toArray();
                    if (i == place) {
                        prompt = new int[] {3, PagedModel.OVERFLOW};
                    }
                    Generation each = loop.submit(GenerationRequest.of(3, prompt));
                    bad = i == place ? each : bad;
                    if (i != place) {
                        good.add(each);
                    }
                }
                submitted.countDown();
                Generation failing = bad;
                assertThatThrownBy(() -> failing.result().await()).hasMessageContaining("is NaN");
                good.forEach(each ->
                        assertThat(each.result().await().tokens()).isEqualTo(PagedModel.expected(each.request())));
                loop.close();
                assertThat(loop.model.violations()).isEmpty();
                assertThat(loop.availablePages()).isEqualTo(59);
            }
        }
    }

    @Test
    void anOverflowingPromptEndsWithThePieceAndLeavesNoInfinities() {
        AtomicInteger steps = new AtomicInteger();
        FakeLoop loop = new FakeLoop(new StepShapes(2, 6, 1), 20)
                .before(_ -> steps.incrementAndGet())
                .start();
        Generation failing = loop.submit(GenerationRequest.of(2, 1, 2, PagedModel.OVERFLOW, 3, 4, 5, 6, 7));
        assertThatThrownBy(() -> failing.result().await()).hasMessageContaining("is NaN");
        assertThat(steps).as("pieces of two tokens").hasValue(2);
        GenerationRequest good = GenerationRequest.of(3, 1, 2, 3);
        assertThat(loop.submit(good).result().await().tokens()).isEqualTo(PagedModel.expected(good));
        loop.close();
        assertThat(loop.model.violations()).isEmpty();
    }

    @Test
    void anUnzeroablePageFailsAllSequences() {
        StepRunner broken = (_, _) -> {
            throw IreeException.of(StatusCode.INTERNAL, "kernel failed");
        };
        try (FakeLoop loop = new FakeLoop(SHAPES, 10)
                .runner(broken, _ -> {
                    throw IreeException.of(StatusCode.INTERNAL, "fill failed");
                })
                .start()) {
            List<Generation> generations = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                try {
                    generations.add(loop.submit(GenerationRequest.of(1, 1)));
                } catch (IreeException e) {
                    assertThat(e).hasMessageContaining("fill failed");
                }
            }
            for (Generation each : generations) {
                assertThatThrownBy(() -> each.result().await()).hasMessageContaining("failed");
            }
        }
    }

    @Test
    void aCallbackOfAGenerationMayClose() throws InterruptedException {
        CountDownLatch registered = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        FakeLoop loop = new FakeLoop(SHAPES, 10)
                .waitFor(registered)
                .atEnd(ended::countDown)
                .start();
        Generation generation = loop.submit(GenerationRequest.of(1, 1));
        Generation other = loop.submit(GenerationRequest.of(3, 2));
        generation.result().whenComplete((_, _) -> loop.close()); // on the thread of the loop
        registered.countDown();
        ended.await();
        assertThat(generation.result().await().tokens()).hasSize(1);
        assertThatThrownBy(() -> other.result().await()).hasMessageContaining("was closed");
        assertThatThrownBy(() -> loop.submit(GenerationRequest.of(1, 1))).hasMessageContaining("is closed");
    }

    @Test
    void aTimeoutBeforeAllTimesTakesNoPlaceOfItsTenantForEver() {
        try (FakeLoop loop =
                new FakeLoop(new StepShapes(4, 8, 8), 20).requestsPerTenant(1).start()) {
            GenerationRequest request = GenerationRequest.of(2, 1).tenant("x");
            Generation late = loop.submit(request.timeout(Duration.ofSeconds(Long.MIN_VALUE / 2)));
            assertThatThrownBy(() -> late.result().await())
                    .extracting(each -> ((IreeException) each).code())
                    .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            assertThat(loop.submit(request).result().await().tokens()).hasSize(2);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whoeverHasTheFailureMaySubmitAgain(boolean late) {
        CountDownLatch registered = new CountDownLatch(1);
        FakeLoop loop = new FakeLoop(new StepShapes(4, 8, 8), 20).requestsPerTenant(1);
        loop.before(step -> {
            FakeLoop.await(registered);
            if (!late
                    && step.sequences()
                            .getFirst()
                            .generation()
                            .request()
                            .tenant()
                            .equals("x")) {
                throw IreeException.of(StatusCode.INTERNAL, "a step fails");
            }
        });
        try (FakeLoop started = loop.start()) {
            Generation other = started.submit(GenerationRequest.of(2, 1));
            GenerationRequest request = GenerationRequest.of(2, 1).tenant("x");
            Generation failing = started.submit(late ? request.timeout(Duration.ZERO) : request);
            AtomicReference<Throwable> refusal = new AtomicReference<>();
            CompletableFuture<?> again = failing.result().handle((_, _) -> {
                try {
                    return started.submit(request);
                } catch (IreeException e) {
                    refusal.set(e);
                    return null;
                }
            });
            registered.countDown();
            again.join();
            assertThat(refusal).hasNullValue();
            assertThat(other.result().await().tokens()).hasSize(2);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anUncopyablePageFailsNoRequest(boolean toHost) {
        StepShapes shapes = new StepShapes(2, 8, 8);
        Measured measured = new Measured(
                List.of(new Entry("prefill_bs4", true, 4)),
                List.of(new Entry("decode_bs4", false, 4)),
                true,
                true,
                true,
                true);
        PagedModel model = new PagedModel(shapes, true, 10);
        PageMover mover = new PageMover() {
            private int left = 2;

            private void fail(boolean now) {
                if (now && left-- > 0) {
                    throw IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no semaphore");
                }
            }

            @Override
            public void toHost(int page, int slot) {
                fail(toHost);
                model.toHost(page, slot);
            }

            @Override
            public void toCache(int slot, int page) {
                fail(!toHost);
                model.toCache(slot, page);
            }
        };
        StepPlanner planner = new StepPlanner(
                true, shapes, measured, 10, new HastyAdmission(), new Speculation(0), new PromptLookup(), 1, 20, mover);
        GenerationLoop loop =
                new GenerationLoop("fake", planner, model, model::scrub, 100, 100, System::nanoTime, () -> {});
        List<Generation> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(loop.submit(GenerationRequest.of(12, i, i, i)));
        }
        for (Generation each : all) {
            assertThat(each.result().await().tokens()).isEqualTo(PagedModel.expected(each.request()));
        }
        loop.close();
        assertThat(model.violations()).isEmpty();
        assertThat(planner.availablePages()).isEqualTo(9);
        assertThat(planner.availableHostPages()).isEqualTo(20);
    }

    @Test
    void aSequenceIsNotLongerThanTheTablesOfTheModel() {
        ModelConfig config = ModelConfig.parse(
                "c",
                "{\"max_seq_len\": 40, \"paged_kv_cache\": {\"block_seq_stride\": 32, \"device_block_count\": 16}}");
        assertThatThrownBy(() -> StepShapes.of(config, 256)).hasMessageContaining("max_seq_len is 40");
    }

    @Test
    void whoeverHasTheAnswerSeesTheStateWithoutTheRequest() {
        for (int i = 0; i < 300; i++) {
            try (FakeLoop loop = new FakeLoop(new StepShapes(2, 8, 8), 10).start()) {
                loop.submit(GenerationRequest.of(3, i % 11)).result().await();
                assertThat(loop.statistics().running()).isZero();
                assertThat(loop.statistics().generatedTokens()).isEqualTo(3);
            }
        }
    }
}

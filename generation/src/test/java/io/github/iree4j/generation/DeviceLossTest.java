package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A device lost at a random step, copied page or zeroed page, between cancellations, with a model in Java. */
@Tag("long")
@Timeout(600)
class DeviceLossTest {
    private static final int TRIALS = Effort.rounds(1_600, 10_000);
    private static final long SEED = Effort.seed(DeviceLossTest.class, TRIALS + " trials", 91);

    private int middle; // trials whose requests had some tokens, but not all
    private int cancelled;
    private int ended;

    @Test
    void everyRequestEndsWithTheTokensBeforeTheLoss() throws InterruptedException {
        long preemptions = 0;
        long restored = 0;
        long accepted = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            try (GenerationLoopTest.Setting setting = new GenerationLoopTest.Setting(random, random.nextInt(3, 30))) {
                setting.model
                        .losesDeviceAfter(trial % 32 == 0 ? 0 : random.nextInt(6, 18))
                        .before(cancelling(random.split()));
                List<GenerationRequest> earlier = new ArrayList<>();
                List<Generation> generations = new ArrayList<>();
                for (int i = random.nextInt(5, 25); i > 0; i--) {
                    earlier.add(setting.request(random, earlier));
                    submit(setting.loop::submit, earlier.getLast(), generations);
                }
                check(trial, setting.model, generations, setting.loop::submit);
                setting.end();
                preemptions += setting.loop.statistics().preemptions();
                restored += setting.loop.statistics().restoredPages();
                accepted += setting.loop.statistics().acceptedTokens();
            }
        }
        checkMix();
        assertThat(preemptions).as("trials are short of pages").isGreaterThan(TRIALS / 20);
        assertThat(restored).as("pages moved back from the host").isGreaterThan(TRIALS / 20);
        assertThat(accepted).as("accepted proposals").isGreaterThan(TRIALS / 100);
    }

    @Test
    void everyRequestEndsWithTheTokensBeforeTheLossOfStepsAhead() throws InterruptedException {
        long ahead = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            int hostPages = random.nextInt(8);
            FakeLoop loop = StepsAheadTest.loop(random).hostPages(hostPages);
            loop.model
                    .losesDeviceAfter(trial % 32 == 0 ? 0 : random.nextInt(5, 13))
                    .before(cancelling(random.split()));
            loop.start();
            List<Generation> generations = new ArrayList<>();
            for (int i = random.nextInt(5, 15); i > 0; i--) {
                submit(loop::submit, StepsAheadTest.request(loop, random), generations);
            }
            check(trial, loop.model, generations, loop::submit);
            StepsAheadTest.end(loop);
            assertThat(loop.planner().availableHostPages())
                    .as("free pages of the host")
                    .isEqualTo(hostPages);
            ahead += loop.model.stepsAhead();
        }
        checkMix();
        assertThat(ahead).as("steps ahead").isGreaterThan(TRIALS / 2);
    }

    /** Cancels a sequence of some steps. */
    private static Consumer<Step> cancelling(SplittableRandom random) {
        return step -> {
            if (random.nextInt(25) == 0) {
                step.sequences()
                        .get(random.nextInt(step.sequences().size()))
                        .generation()
                        .cancel();
            }
        };
    }

    /** Submits a request, unless the device is lost already. */
    private static void submit(
            Function<GenerationRequest, Generation> submitting,
            GenerationRequest request,
            List<Generation> generations) {
        try {
            generations.add(submitting.apply(request));
        } catch (DeviceLostException e) {
            assertThat(e).hasMessageContaining("the device is gone");
        }
    }

    /** Waits for all requests, and checks their tokens and failures. */
    private void check(
            int trial,
            PagedModel model,
            List<Generation> generations,
            Function<GenerationRequest, Generation> submitting)
            throws InterruptedException {
        boolean unfinished = false;
        boolean begun = false;
        for (Generation each : generations) {
            List<Integer> expected = PagedModel.expected(each.request());
            List<Integer> tokens = new ArrayList<>();
            IreeException failure = null;
            try {
                for (OptionalInt next = each.next(); next.isPresent(); next = each.next()) {
                    tokens.add(next.getAsInt());
                }
            } catch (IreeException e) {
                failure = e;
            }
            String what = "request %d of trial %d, seed %d".formatted(each.number(), trial, SEED);
            if (failure == null) {
                assertThat(tokens).as(what).isEqualTo(expected);
                ended++;
                continue;
            }
            assertThat(tokens).as(what).isEqualTo(expected.subList(0, Math.min(tokens.size(), expected.size())));
            if (failure.code() == StatusCode.CANCELLED) {
                cancelled++;
                continue;
            }
            assertThat(failure)
                    .as(what)
                    .isInstanceOf(DeviceLostException.class)
                    .hasMessageContaining("the device is gone")
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.ABORTED);
            unfinished = true;
            begun |= !tokens.isEmpty();
        }
        if (unfinished) {
            assertThat(model.isLost()).as("lost").isTrue();
            middle += begun ? 1 : 0;
            assertThatThrownBy(() -> submitting.apply(GenerationRequest.of(1, 1)))
                    .isInstanceOf(DeviceLostException.class)
                    .hasMessageContaining("the device is gone");
        }
    }

    private void checkMix() {
        assertThat(middle).as("trials with tokens before the loss").isGreaterThan(TRIALS / 3);
        assertThat(cancelled).as("cancelled requests").isGreaterThan(TRIALS / 4);
        assertThat(ended).as("requests ended before the loss").isGreaterThan(TRIALS / 4);
    }
}

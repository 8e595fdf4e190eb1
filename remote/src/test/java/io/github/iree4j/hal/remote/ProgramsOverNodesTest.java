package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs of three nodes, joined by fences: submitted by the first node before the first call runs. */
@Timeout(120)
class ProgramsOverNodesTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ThreeCpus cluster = new ThreeCpus(11, 2);
    private final IreeRuntime runtime;
    private final List<ProgramFunction> adders = new ArrayList<>(); // of nodes 1, 2 and 3
    private final List<Program> programs = new ArrayList<>();

    ProgramsOverNodesTest() {
        runtime = cluster.runtime();
        for (int i = 1; i <= 3; i++) {
            Program program = runtime.load(ProgramOptions.builder()
                    .name("p" + i)
                    .module(Fixtures.file("3.13.0/vmvx-async/add.vmfb"))
                    .device("" + i)
                    .build());
            programs.add(program);
            adders.add(program.function("add"));
        }
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        programs.forEach(Program::close);
        for (Device each : runtime.devices()) {
            if (each.failure().isEmpty()) {
                assertThat(each.allocator().statistics().bytesLive())
                        .as(each.id())
                        .isZero();
            }
        }
        assertThat(runtime.monitor().leaks().openTensors()).isZero();
        runtime.close();
        cluster.close();
    }

    private static Results get(Submission<Results> submission) throws Exception {
        return submission.results().get(60, TimeUnit.SECONDS);
    }

    /** Any function may take results of any others, on any node, given on or kept. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void aRandomPipelineGivesTheSumsWhereverFunctionsRun(long seed) throws Exception {
        Random random = new Random(seed);
        try (Fence ready = runtime.createFence("ready");
                Tensor given = Tensor.of(new float[] {1, 2, 3, 4})) {
            int signalledAt = random.nextInt(30);
            List<Submission<Results>> stages = new ArrayList<>();
            List<Integer> factors = new ArrayList<>(); // of the given tensor
            for (int i = 0; i < 24; i++) {
                if (i == signalledAt) {
                    ready.signal();
                }
                int a = random.nextInt(-1, i);
                int b = random.nextInt(-1, i);
                Fence after = a < 0 ? ready : stages.get(a).fence();
                try (Fence both =
                        Fence.join(after, b < 0 ? ready : stages.get(b).fence())) {
                    stages.add(adders.get(random.nextInt(3))
                            .submit(
                                    CallOptions.DEFAULTS.after(both).timeout(LIMIT),
                                    a < 0 ? given : get(stages.get(a)).tensor(0),
                                    b < 0 ? given : get(stages.get(b)).tensor(0)));
                }
                factors.add((a < 0 ? 1 : factors.get(a)) + (b < 0 ? 1 : factors.get(b)));
            }
            if (signalledAt >= 24) {
                assertThat(stages)
                        .as("seed %d", seed)
                        .allSatisfy(each -> assertThat(each.fence().isReached()).isFalse());
                ready.signal();
            }
            for (int i = 0; i < 24; i++) {
                float factor = factors.get(i);
                try (Results results = stages.get(i).await()) {
                    assertThat(results.tensor(0).toFloatArray())
                            .as("stage %d of seed %d", i, seed)
                            .containsExactly(factor, 2 * factor, 3 * factor, 4 * factor);
                }
            }
        }
    }

    @Test
    void aTensorGivenToACallIsFreedOnceCopied() throws Exception {
        try (Fence ready = runtime.createFence("ready")) {
            Submission<Results> first = adders.get(1)
                    .submit(CallOptions.DEFAULTS.after(ready), new float[] {1, 2, 3, 4}, new float[] {1, 1, 1, 1});
            Tensor sum = get(first).tensor(0);
            Submission<Results> second =
                    adders.get(2).submit(CallOptions.DEFAULTS.after(first.fence()), sum.transfer(), sum);
            assertThat(sum.isClosed()).isTrue();
            ready.signal();
            try (Results results = second.await()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(4, 6, 8, 10);
            }
            get(first).close();
        }
    }

    @Test
    void aFenceReachedBeforeTheCallCopiesTheInputsToo() throws Exception {
        try (Results first = adders.get(1).invoke(new float[] {1, 2, 3, 4}, new float[] {1, 1, 1, 1});
                Fence reached = runtime.createFence("reached")) {
            reached.signal();
            for (ProgramFunction each : adders) {
                Submission<Results> next =
                        each.submit(CallOptions.DEFAULTS.after(reached), first.tensor(0), first.tensor(0));
                try (Results results = next.await()) {
                    assertThat(results.tensor(0).toFloatArray()).containsExactly(4, 6, 8, 10);
                }
            }
        }
    }

    @Test
    void aFailedFenceFailsTheCopyBehindIt() throws Exception {
        try (Fence ready = runtime.createFence("ready")) {
            Submission<Results> first = adders.get(1)
                    .submit(CallOptions.DEFAULTS.after(ready), new float[] {1, 2, 3, 4}, new float[] {1, 1, 1, 1});
            Submission<Results> second = adders.get(2)
                    .submit(
                            CallOptions.DEFAULTS.after(first.fence()),
                            get(first).tensor(0),
                            new float[4]);
            Submission<Results> third = adders.get(0)
                    .submit(
                            CallOptions.DEFAULTS.after(second.fence()),
                            get(second).tensor(0),
                            new float[4]);
            Results[] all = {get(first), get(second), get(third)};
            ready.fail(IreeException.of(StatusCode.DATA_LOSS, "the camera is off"));
            IreeException failure = catchThrowableOfType(
                    IreeException.class, () -> third.fence().await(LIMIT));
            assertThat(failure.code()).isEqualTo(StatusCode.DATA_LOSS);
            assertThat(failure).hasMessageContaining("the camera is off");
            for (Results each : all) {
                each.close();
            }
        }
    }

    @Test
    void theLossOfANodeFailsOnlyTheCallsNeedingIt() throws Exception {
        try (Fence ready = runtime.createFence("ready")) {
            Submission<Results> near = adders.get(0)
                    .submit(CallOptions.DEFAULTS.after(ready), new float[] {1, 2, 3, 4}, new float[] {1, 1, 1, 1});
            Submission<Results> two = adders.get(1)
                    .submit(CallOptions.DEFAULTS.after(near.fence()), get(near).tensor(0), new float[4]);
            Submission<Results> three =
                    adders.get(2).submit(CallOptions.DEFAULTS.after(two.fence()), get(two).tensor(0), new float[4]);
            Submission<Results> other = adders.get(2)
                    .submit(CallOptions.DEFAULTS.after(near.fence()), get(near).tensor(0), new float[4]);
            Results[] all = {get(near), get(two), get(three), get(other)};
            cluster.loopback.cut(cluster.links.getFirst()); // 1 to 2
            ready.signal();
            assertThat(catchThrowableOfType(
                            IreeException.class, () -> two.fence().await(LIMIT)))
                    .hasMessageContaining("cut");
            assertThat(catchThrowableOfType(
                            IreeException.class, () -> three.fence().await(LIMIT)))
                    .hasMessageContaining("cut");
            near.fence().await(LIMIT);
            other.fence().await(LIMIT);
            assertThat(all[3].tensor(0).toFloatArray()).containsExactly(2, 3, 4, 5);
            for (Results each : all) {
                each.close();
            }
        }
    }
}

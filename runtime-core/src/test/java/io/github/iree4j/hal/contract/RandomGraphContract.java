package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random graphs of operations, ordered by fences only and submitted in any order by several threads, give what running them one after
 * the other gives; and a failure reaches exactly what depends on it.
 */
public abstract class RandomGraphContract extends DeviceContract {
    private static final int BUFFERS = 5;
    private static final int OPERATIONS = 60;

    /** For subclasses. */
    protected RandomGraphContract() {}

    /** Operation {@code out = in * factor + index}; waits for all earlier ones that it conflicts with. */
    private record Step(int in, int out, int factor, List<Integer> waits) {}

    private static List<Step> randomSteps(Random random) {
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < OPERATIONS; i++) {
            int in = random.nextInt(BUFFERS);
            int out = (in + 1 + random.nextInt(BUFFERS - 1)) % BUFFERS;
            List<Integer> waits = new ArrayList<>();
            for (int j = 0; j < i; j++) {
                Step earlier = steps.get(j);
                if (earlier.out == in || earlier.out == out || earlier.in == out) {
                    waits.add(j);
                }
            }
            steps.add(new Step(in, out, 1 + random.nextInt(3), waits));
        }
        return steps;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void fencesAloneOrderWork(int threads) throws Exception {
        Executable kernels = closed(kernels(device));
        for (int round = 0; round < 40; round++) {
            long seed = Effort.seed(20261120) + round;
            Random random = new Random(seed);
            List<Step> steps = randomSteps(random);
            int[] expected = new int[BUFFERS];
            List<Buffer> buffers = new ArrayList<>();
            for (int i = 0; i < BUFFERS; i++) {
                buffers.add(ints(0));
            }
            for (int i = 0; i < OPERATIONS; i++) {
                Step step = steps.get(i);
                expected[step.out] = expected[step.in] * step.factor + i;
            }
            List<TimelineSemaphore> done = submitAll(kernels, steps, buffers, threads, random, -1);
            for (int i = 0; i < OPERATIONS; i++) {
                await(seed, done.get(i));
            }
            for (int i = 0; i < BUFFERS; i++) {
                assertThat(read(buffers.get(i))[0])
                        .as("seed %d, buffer %d", seed, i)
                        .isEqualTo(expected[i]);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aFailureReachesWhatDependsOnItAndNothingElse(int threads) throws Exception {
        Executable kernels = closed(kernels(device));
        for (int round = 0; round < 40; round++) {
            long seed = Effort.seed(20261120) + round;
            Random random = new Random(seed);
            List<Step> steps = randomSteps(random);
            List<Buffer> buffers = new ArrayList<>();
            for (int i = 0; i < BUFFERS; i++) {
                buffers.add(ints(0));
            }
            int failing = random.nextInt(OPERATIONS);
            boolean[] fails = new boolean[OPERATIONS];
            for (int i = 0; i < OPERATIONS; i++) {
                fails[i] = i == failing;
                for (int wait : steps.get(i).waits) {
                    fails[i] |= fails[wait];
                }
            }
            List<TimelineSemaphore> done = submitAll(kernels, steps, buffers, threads, random, failing);
            for (int i = 0; i < OPERATIONS; i++) {
                if (!fails[i]) {
                    await(seed, done.get(i));
                } else {
                    assertThat(awaitFailure(done.get(i)))
                            .as("seed %d, operation %d after %d failed", seed, i, failing)
                            .isNotNull()
                            .isSameAs(done.get(failing).failure())
                            .extracting(IreeException::code)
                            .isEqualTo(StatusCode.DATA_LOSS);
                }
            }
        }
    }

    private static @Nullable IreeException awaitFailure(TimelineSemaphore semaphore) {
        CountDownLatch over = new CountDownLatch(1);
        semaphore.whenReached(1, (value, failure) -> over.countDown());
        try {
            assertThat(over.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return semaphore.failure();
    }

    private static void await(long seed, TimelineSemaphore semaphore) {
        assertThat(semaphore.failure()).as("seed %d", seed).isNull();
        semaphore.await(1, Duration.ofSeconds(20));
    }

    private List<TimelineSemaphore> submitAll(
            Executable kernels, List<Step> steps, List<Buffer> buffers, int threads, Random random, int failing)
            throws InterruptedException {
        List<TimelineSemaphore> done = new ArrayList<>();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < OPERATIONS; i++) {
            done.add(semaphore());
            order.add(i);
        }
        Collections.shuffle(order, random);
        List<Thread> submitters = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int first = t;
            submitters.add(Thread.ofPlatform().start(() -> {
                for (int n = first; n < OPERATIONS; n += threads) {
                    int i = order.get(n);
                    submit(kernels, steps.get(i), i, buffers, done, i == failing);
                }
            }));
        }
        for (Thread submitter : submitters) {
            submitter.join();
        }
        return done;
    }

    private void submit(
            Executable kernels,
            Step step,
            int index,
            List<Buffer> buffers,
            List<TimelineSemaphore> done,
            boolean failing) {
        List<Fence.Entry> entries = new ArrayList<>();
        step.waits.forEach(w -> entries.add(new Fence.Entry(done.get(w), 1)));
        try (Fence signal = Fence.at(done.get(index), 1)) {
            Fence wait = entries.isEmpty() ? null : Fence.of(entries);
            if (failing && !kernelsAreHostFunctions()) {
                queue.hostCall(
                        wait,
                        signal,
                        () -> {
                            throw new IreeException(StatusCode.DATA_LOSS, "failed on purpose");
                        },
                        0);
            } else {
                queue.dispatch(
                        wait,
                        signal,
                        kernels,
                        failing ? JavaKernels.FAIL : JavaKernels.SCALE,
                        DispatchConfig.of(1, 1, 1),
                        failing ? new int[0] : new int[] {step.factor, index},
                        failing ? new BindingTable() : BindingTable.of(buffers.get(step.in), buffers.get(step.out)),
                        0);
            }
            if (wait != null) {
                wait.close();
            }
        }
    }
}

package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A call gives its memory back at the end of its work: the next call in line does not wait for the thread of the first
 * call's end. Here no such thread runs, since all carriers of virtual threads are busy.
 */
@Timeout(300)
class LateEndsTest {
    private static final Tensor VALUES = Tensor.of(new float[65 * 64], 65, 64);
    private static final Tensor FACTORS = Tensor.of(new float[65], 65, 1);

    private final AtomicBoolean isOver = new AtomicBoolean();

    /** How a call is made. */
    enum Way {
        /** Of a function with a wait for its work. */
        ASYNC("3.13.0/cpu/outer.vmfb"),
        /** Of a function with fences. */
        FENCED("3.13.0/cpu-async/outer.vmfb"),
        /** The same with a fence of the caller. */
        SIGNALLING("3.13.0/cpu-async/outer.vmfb");

        private final String module;

        Way(String module) {
            this.module = module;
        }

        private CompletableFuture<Results> call(Program program, @Nullable Fence wait, Fence signal) {
            return program.function("outer")
                    .call(CallOptions.DEFAULTS.after(wait).signal(this == SIGNALLING ? signal : null), VALUES, FACTORS);
        }
    }

    @BeforeEach
    void keepCarriersBusy() throws InterruptedException {
        int carriers = Integer.getInteger(
                "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
        CountDownLatch busy = new CountDownLatch(carriers);
        for (int i = 0; i < carriers; i++) {
            Thread.ofVirtual().start(() -> {
                busy.countDown();
                while (!isOver.get()) {
                    Thread.onSpinWait();
                }
            });
        }
        busy.await();
    }

    @AfterEach
    void freeCarriers() {
        isOver.set(true);
    }

    @ParameterizedTest
    @EnumSource
    void theNextCallHasTheMemoryOfACallBeforeItsEnd(Way way) throws Exception {
        long peak = peak(way);
        try (IreeRuntime runtime =
                        IreeRuntime.builder().memoryLimit(peak * 6 / 5).build();
                Program first = runtime.load(Fixtures.file(way.module));
                Program second = runtime.load(Fixtures.file(way.module));
                Timeline ready = runtime.createTimeline();
                Timeline ends = runtime.createTimeline();
                Fence wait = ready.at(1);
                Fence end = ends.at(1);
                Fence lastEnd = ends.at(2)) {
            CompletableFuture<Results> early = way.call(first, null, end);
            CompletableFuture<Results> late = way.call(second, wait, lastEnd);
            whenThisThreadWaits(() -> ready.semaphore().signal(1)); // for this thread to run the end
            try {
                late.get(10, TimeUnit.SECONDS).close();
            } finally {
                freeCarriers();
            }
            early.join().close();
        }
    }

    /** END-4: also where the thread for ends of late calls cannot run. */
    @ParameterizedTest
    @EnumSource(names = "SIGNALLING", mode = EnumSource.Mode.EXCLUDE)
    void resultsAfterTheDeadlineAreFreed(Way way) {
        Duration limit = Duration.ofMillis(100);
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file(way.module));
                Timeline ready = runtime.createTimeline();
                Fence wait = ready.at(1)) {
            program.function("outer").invoke(VALUES, FACTORS).close(); // a first call takes long to submit
            CallOptions options = CallOptions.DEFAULTS.after(wait).timeout(limit);
            CompletableFuture<Results> late = program.function("outer").call(options, VALUES, FACTORS);
            long submitted = System.nanoTime();
            whenThisThreadWaits(() -> {
                while (System.nanoTime() - submitted < limit.toNanos()) {
                    Thread.onSpinWait();
                }
                ready.semaphore().signal(1);
            });
            assertThatThrownBy(() -> late.get(10, TimeUnit.SECONDS))
                    .hasStackTraceContaining("DEADLINE_EXCEEDED")
                    .hasStackTraceContaining("call of 'module.outer' took longer than 100 ms");
            freeCarriers();
            while (program.monitor().activeCalls() > 0) {
                Thread.onSpinWait();
            }
            assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        }
    }

    private static void whenThisThreadWaits(Runnable action) {
        Thread waiting = Thread.currentThread();
        Thread.ofPlatform().daemon().start(() -> {
            while (Arrays.stream(waiting.getStackTrace())
                    .noneMatch(each -> each.getMethodName().equals("parkNanos"))) {
                Thread.onSpinWait();
            }
            action.run();
        });
    }

    private static long peak(Way way) {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file(way.module))) {
            program.function("outer").invoke(VALUES, FACTORS).close();
            long peak = runtime.device().allocator().statistics().bytesPeak();
            assertThat(peak).isGreaterThan(1_000_000);
            return peak;
        }
    }
}

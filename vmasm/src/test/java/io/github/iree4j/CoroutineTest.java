package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Calls with waits for fences inside the program, and without a thread meanwhile. */
@Timeout(600)
class CoroutineTest {
    private static final int MANY = 10_000;

    /**
     * wait: waits for a fence and returns a number. count: the same, with a counter read before and written after.
     * between: counts between two fences.
     */
    private static final String WAITER = """
            vm.module @waiter version 0
            vm.type !hal.fence
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.import @hal.fence.signal cconv "0r_v"
            vm.global.i32 mutable @counter
            vm.export @wait
            vm.export @count
            vm.export @spin
            vm.export @between
            vm.func @wait(%i0: i32, %r0: !hal.fence) -> (i32) {
            ^bb0:
              %i1 = vm.const.i32 -1
              %i2:3 = vm.const.i64.zero
              %i4 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i1, %i2:3, %r0)
              vm.discard.refs %r0
              vm.return %i0
            }
            vm.func @count(%r0: !hal.fence) -> (i32) {
            ^bb0:
              %i0 = vm.global.load.i32 @counter
              %i1 = vm.const.i32 -1
              %i2:3 = vm.const.i64.zero
              %i4 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i1, %i2:3, %r0)
              %i5 = vm.const.i32 1
              %i0 = vm.add.i32 %i0, %i5
              vm.global.store.i32 %i0, @counter
              vm.discard.refs %r0
              vm.return %i0
            }
            vm.func @spin() -> () {
            ^bb0:
              vm.yield ^bb0
            }
            vm.func @between(%r0: !hal.fence, %r1: !hal.fence) -> (i32) {
              vm.attr "iree.abi.model" = "coarse-fences"
            ^bb0:
              %i0 = vm.call @count(%r0)
              vm.call @hal.fence.signal(%r1)
              vm.return %i0
            }
            """;

    private final IreeRuntime runtime = IreeRuntime.builder().taskWorkers(2).build();
    private final Timeline timeline = runtime.createTimeline();

    @AfterEach
    void nothingIsLeft() {
        timeline.close();
        runtime.close();
        while (!runtime.programs().isEmpty()) {
            Thread.onSpinWait();
        }
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
    }

    private Program program(boolean overlapping) {
        return runtime.load(ProgramOptions.builder()
                .module("waiter", VmAssembler.assemble(WAITER))
                .overlappingCalls(overlapping)
                .build());
    }

    private static int number(CompletableFuture<Results> future) throws ExecutionException, InterruptedException {
        try (Results results = future.get()) {
            return results.intValue(0);
        }
    }

    private List<CompletableFuture<Results>> startMany(Program program, Fence fence) {
        List<CompletableFuture<Results>> all = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            all.add(program.function("wait").invokeAsync(i, fence));
        }
        return all;
    }

    /** Waits until all calls have progressed as far as possible and no worker has work. */
    private void awaitSleep() {
        while (runtime.monitor().workers().executor().sleepingWorkers()
                < runtime.monitor().workers().executor().workers()) {
            Thread.onSpinWait();
        }
    }

    private static long heapInUse() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    // -- many

    @Test
    void tenThousandCallsWaitForAFenceWithoutAThread(@TempDir Path directory) throws Exception {
        long queues = runtime.monitor().workers().executor().liveProcesses();
        try (Program program = program(true);
                Fence fence = timeline.at(1)) {
            number(program.function("wait").invokeAsync(7, null)); // for one-time initialisation
            awaitSleep();
            int threads = Thread.getAllStackTraces().size();
            long before = heapInUse();
            List<CompletableFuture<Results>> all = startMany(program, fence);
            awaitSleep();
            assertThat(all).noneMatch(CompletableFuture::isDone);
            assertThat(runtime.monitor().workers().executor().liveProcesses()).isEqualTo(queues + MANY);
            assertThat(Thread.getAllStackTraces().size()).isLessThanOrEqualTo(threads + 4);
            assertThat(threadsOfCalls(directory)).as("virtual or not").isZero();
            long bytes = (heapInUse() - before) / MANY;
            System.out.printf("%d bytes for each waiting call%n", bytes);
            assertThat(bytes).isLessThan(8192);

            timeline.semaphore().signal(1);
            for (int i = 0; i < MANY; i++) {
                assertThat(number(all.get(i))).isEqualTo(i);
            }
        }
        awaitSleep();
        assertThat(runtime.monitor().workers().executor().liveProcesses()).isEqualTo(queues);
    }

    private static int threadsOfCalls(Path directory) throws Exception {
        Path dump = directory.resolve("threads.json");
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .dumpThreads(dump.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.JSON);
        return Files.readString(dump).split("iree4j-(call|end)", -1).length - 1;
    }

    @Test
    void tenThousandCallsWaitForTheirTurnWithoutAThread(@TempDir Path directory) throws Exception {
        try (Program program = program(false);
                Fence fence = timeline.at(1)) {
            List<CompletableFuture<Results>> all = startMany(program, fence);
            awaitSleep();
            assertThat(all).noneMatch(CompletableFuture::isDone);
            assertThat(threadsOfCalls(directory)).isZero();
            timeline.semaphore().signal(1);
            for (int i = 0; i < MANY; i++) {
                assertThat(number(all.get(i))).isEqualTo(i);
            }
        }
    }

    @Test
    void thousandsOfWaitingCallsAreCancelled() {
        for (boolean overlapping : new boolean[] {true, false}) {
            try (Program program = program(overlapping);
                    Fence fence = timeline.at(1)) {
                List<CompletableFuture<Results>> all = startMany(program, fence);
                Random random = new Random(7);
                while (!all.isEmpty()) {
                    CompletableFuture<Results> last = all.removeLast();
                    int other = all.isEmpty() ? 0 : random.nextInt(all.size());
                    CompletableFuture<Results> next = all.isEmpty() ? last : all.set(other, last);
                    assertThat(next.cancel(true)).isTrue();
                    assertThatExceptionOfType(CancellationException.class).isThrownBy(next::get);
                }
            }
            while (!runtime.programs().isEmpty()) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void retiringLetsThousandsOfWaitingCallsFinish() throws Exception {
        Program program = program(true);
        try (Fence fence = timeline.at(1)) {
            List<CompletableFuture<Results>> all = startMany(program, fence);
            program.retire();
            assertThat(runtime.programs()).as("calls keep it").containsExactly(program);
            timeline.semaphore().signal(1);
            for (int i = 0; i < MANY; i++) {
                assertThat(number(all.get(i))).isEqualTo(i);
            }
        }
    }

    @Test
    void aFailedTimelineEndsThousandsOfWaitingCalls() {
        try (Program program = program(true);
                Fence fence = timeline.at(1)) {
            List<CompletableFuture<Results>> all = startMany(program, fence);
            timeline.semaphore().fail(IreeException.of(StatusCode.DATA_LOSS, "the root cause"));
            for (CompletableFuture<Results> each : all) {
                assertThatExceptionOfType(ExecutionException.class)
                        .isThrownBy(each::get)
                        .withCauseInstanceOf(IreeException.class)
                        .withMessageContaining("the root cause");
            }
        }
    }

    // -- where code runs

    @Test
    void theSignallingThreadRunsNothingOfTheCall() throws Exception {
        try (Program program = program(true);
                Fence fence = timeline.at(1)) {
            CompletableFuture<Results> future = program.function("wait").invokeAsync(1, fence);
            AtomicReference<Thread> told = new AtomicReference<>();
            CompletableFuture<Integer> after = future.thenApply(results -> {
                told.set(Thread.currentThread());
                results.close();
                // A continuation may block, even on another call: the call never runs on a worker.
                try (Results more = program.function("wait").invoke(5, null)) {
                    return more.intValue(0);
                }
            });
            awaitSleep();
            timeline.semaphore().signal(1);
            assertThat(after.get()).isEqualTo(5);
            assertThat(told.get()).isNotEqualTo(Thread.currentThread());
            assertThat(told.get().isVirtual()).isTrue();
        }
    }

    @Test
    void yieldingCallsLetOthersGoFirst() throws Exception {
        try (Program spinning = program(true);
                Program program = program(true)) {
            List<CompletableFuture<Results>> endless = new ArrayList<>();
            for (int i = 0; i < 4; i++) { // more than workers
                endless.add(spinning.function("spin").invokeAsync());
            }
            assertThat(number(program.function("wait").invokeAsync(3, null))).isEqualTo(3);
            assertThat(number(spinning.function("wait").invokeAsync(4, null))).isEqualTo(4);
            endless.forEach(each -> each.cancel(true));
        }
    }

    // -- turns

    @Test
    void callsOfAProgramWithStateKeepTheStateUntilTheyReturn() throws Exception {
        try (Program program = program(false);
                Fence one = timeline.at(1);
                Fence two = timeline.at(2)) {
            List<CompletableFuture<Results>> all = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                all.add(program.function("count").invokeAsync(i % 2 == 0 ? one : two));
            }
            timeline.semaphore().signal(1);
            timeline.semaphore().signal(2);
            for (int i = 0; i < all.size(); i++) {
                assertThat(number(all.get(i))).isEqualTo(i + 1);
            }
        }
    }

    @Test
    void overlappingCallsRunDuringAWait() throws Exception {
        try (Program program = program(true);
                Fence fence = timeline.at(1)) {
            CompletableFuture<Results> first = program.function("count").invokeAsync(fence);
            awaitSleep();
            try (Results results = program.function("wait").invoke(9, null)) { // on this thread
                assertThat(results.intValue(0)).isEqualTo(9);
            }
            assertThat(number(program.function("count").invokeAsync((Object) null)))
                    .isEqualTo(1);
            timeline.semaphore().signal(1);
            assertThat(number(first)).as("read before the other call wrote").isEqualTo(1);
        }
    }

    @Test
    void callsMayBeSubmittedBeforeTheCallsAwaited() throws Exception {
        List<Timeline> timelines = new ArrayList<>();
        try (Program program = program(false)) {
            ProgramFunction function = program.function("between");
            timelines.add(runtime.createTimeline());
            List<CompletableFuture<Results>> all = new ArrayList<>();
            try (Fence last = timelines.getFirst().at(1)) {
                all.add(function.call(CallOptions.DEFAULTS.after(last))); // no fence of the caller
            }
            for (int i = 1; i < 20; i++) {
                timelines.add(runtime.createTimeline());
                try (Fence wait = timelines.get(i).at(1);
                        Fence signal = timelines.get(i - 1).at(1)) {
                    all.addFirst(function.call(CallOptions.DEFAULTS.after(wait).signal(signal)));
                }
            }
            awaitSleep();
            assertThat(all).noneMatch(CompletableFuture::isDone);
            try (Fence first = timelines.getLast().at(1)) {
                all.addFirst(function.call(CallOptions.DEFAULTS.signal(first)));
            }
            for (int i = 0; i < all.size(); i++) {
                assertThat(number(all.get(i))).isEqualTo(i + 1);
            }
        } finally {
            timelines.forEach(Timeline::close);
        }
    }

    @Test
    void aCallNotMadeAheadEndsWithItsFenceOrItsFuture() {
        try (Program program = program(false);
                Fence wait = timeline.at(1);
                Timeline other = runtime.createTimeline();
                Fence signal = other.at(1)) {
            ProgramFunction function = program.function("between");
            CompletableFuture<Results> cancelled =
                    function.call(CallOptions.DEFAULTS.after(wait).signal(signal));
            CompletableFuture<Results> failed = function.call(CallOptions.DEFAULTS.after(wait));
            assertThat(cancelled.cancel(true)).isTrue();
            assertThat(other.semaphore().failure())
                    .isNotNull()
                    .satisfies(cause -> assertThat(cause.code()).isEqualTo(StatusCode.CANCELLED));
            timeline.semaphore().fail(IreeException.of(StatusCode.DATA_LOSS, "the root cause"));
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(failed::get)
                    .withMessageContaining("the root cause");
        }
    }

    @Test
    void callsOnThreadsAndWithoutTakeTurns() throws Exception {
        for (boolean overlapping : new boolean[] {true, false}) {
            try (Program program = program(overlapping)) {
                List<Thread> threads = new ArrayList<>();
                List<CompletableFuture<Results>> all = new ArrayList<>();
                for (int t = 0; t < 4; t++) {
                    threads.add(Thread.ofPlatform().start(() -> {
                        for (int i = 0; i < 500; i++) {
                            program.function("count").invoke((Object) null).close();
                        }
                    }));
                }
                for (int i = 0; i < 1000; i++) {
                    all.add(program.function("count").invokeAsync((Object) null));
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                for (CompletableFuture<Results> each : all) {
                    each.get().close();
                }
                try (Results results = program.function("count").invoke((Object) null)) {
                    assertThat(results.intValue(0)).isEqualTo(4 * 500 + 1000 + 1);
                }
            }
        }
    }

    @Test
    void executorClosedTooEarlyEndsWaitingCalls() {
        try (Program program = program(true);
                Fence fence = timeline.at(1)) {
            CompletableFuture<Results> waiting = program.function("wait").invokeAsync(1, fence);
            runtime.monitor().workers().executor().close();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(waiting::get)
                    .withMessageContaining("cancelled");
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(program.function("wait").invokeAsync(1, fence)::get)
                    .withMessageContaining("cancelled");
        }
    }
}

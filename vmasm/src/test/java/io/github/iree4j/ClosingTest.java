package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.asm.VmAssembler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * When close() of a program has returned, all calls have ended and no memory of the program is in use, in any state.
 */
@Timeout(300)
class ClosingTest {
    /** wait: waits for a fence. spin: never returns. */
    static final String WAITER = """
            vm.module @waiter version 0
            vm.type !hal.fence
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.export @wait
            vm.export @spin
            vm.func @wait(%r0: !hal.fence) -> (i32) {
            ^bb0:
              %i1 = vm.const.i32 -1
              %i2:3 = vm.const.i64.zero
              %i4 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i1, %i2:3, %r0)
              vm.discard.refs %r0
              vm.return %i4
            }
            vm.func @spin() -> () {
            ^bb0:
              vm.yield ^bb0
            }
            """;

    private static final int SIZE = 4096;

    private final IreeRuntime runtime = IreeRuntime.builder()
            .device(
                    "local",
                    "local",
                    DeviceOptions.builder()
                            .memoryLimit(16 * SIZE)
                            .memoryHostWait(Duration.ofMinutes(5))
                            .memoryWait(Duration.ofMinutes(5))
                            .build())
            .taskWorkers(2)
            .build();
    private final Timeline timeline = runtime.createTimeline();
    private final Fence gate = timeline.at(1);
    private final Timeline results = runtime.createTimeline();
    private final Fence done = results.at(1);
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);

    @AfterEach
    void nothingIsLeft() {
        go.countDown();
        gate.close();
        done.close();
        timeline.close();
        results.close();
        runtime.close();
        assertThat(runtime.programs()).isEmpty();
        assertNothingIsLive();
    }

    private void assertNothingIsLive() {
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        assertThat(runtime.device().queue(0).counters().pending()).isZero();
    }

    private Program waiter(boolean overlapping) {
        return runtime.load(ProgramOptions.builder()
                .module("waiter", VmAssembler.assemble(WAITER))
                .overlappingCalls(overlapping)
                .build());
    }

    /** Programs that submit work and return before the end of the work. */
    private Program worker() {
        VmModule module = NativeModule.builder("worker", 1, Object::new)
                .function("hold", "0rr_v", (state, call) -> hold(call))
                .attribute("iree.abi.model", "coarse-fences")
                .function("slow", "0rr_v", (state, call) -> slow(call))
                .attribute("iree.abi.model", "coarse-fences")
                .function("block", "0v_v", (state, call) -> await(go))
                .build();
        return runtime.load(ProgramOptions.builder().module(module).build());
    }

    /** Holds memory, to be used after the fence. */
    private void hold(VmCall call) {
        DeviceQueue queue = runtime.device().queue(0);
        try (TimelineSemaphore own = runtime.device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence there = Fence.at(own, 1);
                Fence filled = Fence.at(own, 2);
                Fence both = Fence.of(List.of(new Fence.Entry(own, 1), given(call)))) {
            Buffer buffer = queue.alloca(null, there, BufferParams.DEFAULT.withConsumer("worker"), SIZE, 0);
            queue.fill(both, filled, buffer, 0, SIZE, 1, 1, 0);
            queue.dealloca(filled, call.required(Fence.class), buffer, 0);
            buffer.release();
        }
    }

    private Fence.Entry given(VmCall call) {
        Fence wait = call.ref(Fence.class);
        return wait == null
                ? new Fence.Entry(timeline.semaphore(), 1)
                : new Fence.Entry(wait.semaphore(0), wait.value(0));
    }

    /** Holds memory in use by running work. */
    private void slow(VmCall call) {
        DeviceQueue queue = runtime.device().queue(0);
        try (TimelineSemaphore own = runtime.device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence there = Fence.at(own, 1);
                Fence over = Fence.at(own, 2)) {
            Buffer buffer = queue.alloca(call.ref(Fence.class), there, BufferParams.DEFAULT, SIZE, 0);
            buffer.retain(); // like a kernel in use of the result
            queue.hostCall(
                    there,
                    over,
                    () -> {
                        await(go);
                        buffer.release();
                    },
                    0);
            queue.dealloca(over, call.required(Fence.class), buffer, 0);
            buffer.release();
        }
    }

    private void await(CountDownLatch latch) {
        entered.countDown();
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw IreeException.of(StatusCode.CANCELLED, "interrupted inside", e);
        }
    }

    private static void assertClosed(CompletableFuture<Results> call) {
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(call::get)
                .withCauseInstanceOf(IreeException.class)
                .withMessageContaining("was closed")
                .satisfies(
                        e -> assertThat(((IreeException) e.getCause()).code()).isEqualTo(StatusCode.CANCELLED));
    }

    private static void awaitActive(Program program, int calls) {
        while (program.monitor().activeCalls() < calls) {
            Thread.onSpinWait();
        }
    }

    @Test
    void callsWaitingForTheirInputsEnd() {
        Program program = waiter(false);
        CompletableFuture<Results> call =
                program.function("wait").call(CallOptions.DEFAULTS.after(gate).signal(done), (Object) null);
        program.close();
        assertClosed(call);
        assertThat(program.monitor().activeCalls()).isZero();
        assertThatExceptionOfType(IreeException.class).isThrownBy(done::await).withMessageContaining("was closed");
    }

    @Test
    void suspendedCallsAndCallsInLineEnd() {
        for (boolean overlapping : new boolean[] {false, true}) {
            // END-1: some have begun to wait, others are about to.
            Program program = waiter(overlapping);
            List<CompletableFuture<Results>> calls = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                calls.add(program.function("wait").invokeAsync(gate));
            }
            program.close();
            assertThat(program.monitor().activeCalls()).isZero();
            calls.forEach(ClosingTest::assertClosed);
        }
    }

    @Test
    void threadsWaitingInACallOrForTheirTurnEnd() throws InterruptedException {
        for (boolean overlapping : new boolean[] {false, true}) {
            Program program = waiter(overlapping);
            ConcurrentLinkedQueue<Throwable> thrown = new ConcurrentLinkedQueue<>();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        program.function("wait").invoke(gate).close();
                    } catch (IreeException e) {
                        thrown.add(e);
                    }
                }));
            }
            awaitActive(program, 5);
            program.close();
            assertThat(program.monitor().activeCalls()).isZero();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(thrown)
                    .hasSize(5)
                    .allSatisfy(e -> assertThat(e)
                            .hasMessageContaining("was closed")
                            .isInstanceOfSatisfying(
                                    IreeException.class,
                                    f -> assertThat(f.code()).isEqualTo(StatusCode.CANCELLED)));
        }
    }

    @Test
    void endlessCodeEnds() {
        Program program = waiter(false);
        CompletableFuture<Results> endless = program.function("spin").invokeAsync();
        CompletableFuture<Results> behind = program.function("wait").invokeAsync((Object) null);
        program.close();
        assertClosed(endless);
        assertClosed(behind);
    }

    @Test
    void aBlockingFunctionInJavaIsInterrupted() throws InterruptedException {
        Program program = worker();
        CompletableFuture<Results> call = program.function("block").invokeAsync();
        entered.await();
        program.close();
        assertThat(program.monitor().activeCalls()).isZero();
        assertClosed(call);
    }

    @Test
    void workNotBegunIsTakenBackWithItsMemory() throws Exception {
        Program program = worker();
        program.function("hold")
                .call(CallOptions.DEFAULTS.after(gate).signal(done))
                .get()
                .close();
        CompletableFuture<Results> other = program.function("hold").invokeAsync();
        while (runtime.device().allocator().statistics().bytesLive() < 2 * SIZE) {
            Thread.onSpinWait();
        }
        program.close();
        assertNothingIsLive();
        assertThat(program.monitor().activeCalls()).isZero();
        assertThatExceptionOfType(IreeException.class).isThrownBy(done::await).withMessageContaining("was closed");
        assertClosed(other);
    }

    @Test
    void workBegunEndsBeforeCloseReturns() throws Exception {
        Program program = worker();
        program.function("slow").call(CallOptions.DEFAULTS.signal(done)).get().close();
        entered.await();
        FutureTask<Long> closing = new FutureTask<>(() -> {
            program.close();
            return runtime.device().allocator().statistics().bytesLive();
        });
        Thread closer = Thread.ofPlatform().start(closing);
        while (closer.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        assertThat(runtime.device().allocator().statistics().bytesLive()).isEqualTo(SIZE);
        go.countDown();
        assertThat(closing.get()).as("bytes live when close() has returned").isZero();
    }

    @Test
    void leftoversOfACancelledCallAreAwaited() throws Exception {
        Program program = worker();
        CompletableFuture<Results> call = program.function("slow").invokeAsync();
        entered.await();
        assertThat(call.cancel(true)).isTrue();
        while (program.monitor().activeCalls() > 0) {
            Thread.onSpinWait();
        }
        Thread releaser = Thread.ofPlatform().start(go::countDown);
        program.close();
        assertNothingIsLive();
        releaser.join();
    }

    @Test
    void otherSignallersOfTheSameFenceAreNotWaitedFor() throws Exception {
        Program program = worker();
        Program other = worker();
        try (Timeline open = runtime.createTimeline();
                Fence opened = open.at(1);
                Fence both = results.at(1, 2)) {
            open.semaphore().signal(1);
            other.function("hold")
                    .call(CallOptions.DEFAULTS.after(gate).signal(both))
                    .get()
                    .close();
            program.function("hold")
                    .call(CallOptions.DEFAULTS.after(opened).signal(both))
                    .get()
                    .close();
            while (runtime.device().allocator().statistics().bytesLive() > SIZE) {
                Thread.onSpinWait();
            }
            program.close();
            assertThat(program.monitor().activeCalls()).isZero();
            assertThat(other.monitor().activeCalls()).isOne();
            assertThat(results.semaphore().failure()).isNull();
        }
        other.close();
        assertNothingIsLive();
    }

    @Test
    void aCallBeforeTheGateOfAFullDeviceDoesNotBegin() throws InterruptedException {
        Program program = waiter(false);
        try (Tensor kept = runtime.upload(Tensor.of(new float[15 * SIZE / 4], 15L * SIZE / 4))) {
            Tensor large = Tensor.of(new float[SIZE / 2], SIZE / 2);
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread caller = Thread.ofPlatform().start(() -> {
                try {
                    program.function("wait").invoke(large);
                } catch (IreeException e) {
                    thrown.set(e);
                }
            });
            while (caller.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            program.close();
            caller.join();
            assertThat(thrown.get()).hasMessageContaining("was closed");
            assertThat(kept.byteSize()).isEqualTo(15 * SIZE);
        }
    }

    @Test
    void closingFromWithinACallOrACallbackWaitsForNothing() throws Exception {
        AtomicReference<Program> self = new AtomicReference<>();
        VmModule module = NativeModule.builder("suicidal", 1, Object::new)
                .function("end", "0v_v", (state, call) -> self.get().close())
                .build();
        for (boolean blocking : new boolean[] {true, false}) {
            Program program =
                    runtime.load(ProgramOptions.builder().module(module).build());
            self.set(program);
            if (blocking) {
                program.function("end").invoke().close(); // has returned before a cancellation
            } else {
                program.function("end")
                        .invokeAsync()
                        .handle((returned, failure) -> returned)
                        .join();
            }
            while (!runtime.programs().isEmpty()) {
                Thread.onSpinWait();
            }
        }
        Program program = waiter(false);
        CompletableFuture<Results> call = program.function("wait").invokeAsync(gate);
        CountDownLatch told = new CountDownLatch(1);
        try (Fence first = results.at(1)) {
            first.whenReached(failure -> {
                program.close();
                told.countDown();
            });
            Thread.ofPlatform().start(() -> results.semaphore().signal(1)).join();
        }
        told.await();
        assertClosed(call);
    }

    @Test
    void anInterruptedThreadStopsWaitingAndStaysInterrupted() throws Exception {
        Program program = worker();
        program.function("slow").call(CallOptions.DEFAULTS.signal(done)).get().close();
        entered.await();
        Thread.currentThread().interrupt();
        program.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(runtime.device().allocator().statistics().bytesLive()).isEqualTo(SIZE);
        go.countDown();
        program.close();
        assertThat(program.monitor().activeCalls()).isZero();
        assertNothingIsLive();
    }

    @Test
    void aCallGivenUpBeforeTheWaitForItsInputsEnds() {
        Program program = waiter(false);
        for (int i = 0; i < 200; i++) {
            CompletableFuture<Results> call = program.function("wait")
                    .call(CallOptions.DEFAULTS.after(gate).timeout(Duration.ofNanos(1)), (Object) null);
            assertThatExceptionOfType(ExecutionException.class).isThrownBy(call::get);
        }
        while (program.monitor().activeCalls() > 0) {
            Thread.onSpinWait();
        }
        program.close();
    }

    /** Random calls of any kind, from any thread, while others close. */
    @Test
    @Tag("long")
    void whateverCallsDoNoByteIsLiveAfterClose() throws InterruptedException {
        int rounds = Effort.rounds(40, 2000);
        long first = Effort.seed(ClosingTest.class, rounds + " rounds", 1);
        for (int i = 0; i < rounds; i++) {
            round(new Random(first + i));
        }
    }

    private void round(Random random) throws InterruptedException {
        // END-1, END-2: calls begin to wait and end while the program is closed.
        Program program = random.nextBoolean() ? worker() : waiter(random.nextBoolean());
        List<Thread> clients = new ArrayList<>();
        ConcurrentLinkedQueue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 1 + random.nextInt(4); i++) {
            Random own = new Random(random.nextLong());
            clients.add(Thread.ofPlatform().start(() -> client(program, own, wrong)));
        }
        int spins = random.nextInt(200_000);
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
        Thread second = random.nextBoolean() ? Thread.ofVirtual().start(program::close) : Thread.currentThread();
        program.close();
        assertThat(program.monitor().activeCalls()).isZero();
        assertNothingIsLive();
        for (Thread client : clients) {
            client.join();
        }
        if (!second.equals(Thread.currentThread())) {
            second.join();
        }
        assertThat(wrong).isEmpty();
    }

    private void client(Program program, Random random, ConcurrentLinkedQueue<Throwable> wrong) {
        try {
            for (int i = 0; i < 20; i++) {
                boolean works = program.name().equals("worker");
                ProgramFunction function = program.function(works ? "hold" : random.nextInt(4) == 0 ? "spin" : "wait");
                Object[] inputs = new Object[function.arguments().size()];
                Arrays.fill(inputs, random.nextBoolean() ? gate : null);
                switch (random.nextInt(3)) {
                    case 0 -> function.invoke(inputs).close();
                    case 1 -> function.invokeAsync(inputs);
                    default ->
                        function.call(
                                CallOptions.DEFAULTS
                                        .after(random.nextBoolean() ? gate : null)
                                        .timeout(Duration.ofNanos(random.nextInt(2_000_000))),
                                inputs);
                }
            }
        } catch (IreeException e) {
            if (e.code() != StatusCode.CANCELLED
                    && e.code() != StatusCode.FAILED_PRECONDITION
                    && e.code() != StatusCode.RESOURCE_EXHAUSTED) {
                wrong.add(e);
            }
        } catch (Throwable e) {
            wrong.add(e);
        }
    }
}

package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.modules.vmvx.VmvxExecutableLoader;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.asm.VmAssembler;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each call can be ended in each way, wherever the call is; and so can each load. Afterwards nothing is in use. */
@Timeout(120)
class EveryCallEndsTest {
    /** The place of a call without an end. */
    enum Place {
        /** A loop of instructions. */
        LOOP,
        /** A loop giving way to others at each round. */
        YIELDING_LOOP,
        /** A wait of the program for an unsignalled fence. */
        FENCE,
        /** A function with fences and a loop of VMVX as kernel. */
        VMVX,
        /** A function with fences and work that blocks in code of a device, which nothing can stop. */
        KERNEL,
        /** A function with fences and work that waits for memory. */
        MEMORY,
        /** The line of a program while another call has the turn. */
        LINE
    }

    /** The way of ending the call. */
    enum Way {
        INTERRUPT,
        DEADLINE,
        CANCEL,
        /** As an operator does, by the number of the call. */
        NUMBER,
        CLOSE_PROGRAM,
        CLOSE_RUNTIME
    }

    private static final String PROGRAM = """
            vm.module @stuck version 0
            vm.type !hal.fence
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.import @work.entered cconv "0v_v"
            vm.export @loop
            vm.export @yielding_loop
            vm.export @fence
            vm.func @loop() -> () {
            ^bb0:
              vm.call @work.entered()
              vm.br ^bb1()
            ^bb1:
              vm.br ^bb1()
            }
            vm.func @yielding_loop() -> () {
            ^bb0:
              vm.call @work.entered()
              vm.br ^bb1()
            ^bb1:
              vm.yield ^bb1()
            }
            vm.func @fence(%r0: !hal.fence) -> (i32) {
            ^bb0:
              vm.call @work.entered()
              %i1 = vm.const.i32 -1
              %i2:3 = vm.const.i64.zero
              %i4 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i1, %i2:3, %r0)
              vm.discard.refs %r0
              vm.return %i4
            }
            """;

    private static final String KERNEL = """
            vm.module @kernels version 0
            vm.type !vm.list<!vm.buffer>
            vm.export @spin
            vm.func @spin(%r0: !vm.buffer, %r1: !vm.buffer, %r2: !vm.list<!vm.buffer>, %i0: i32, %i1: i32, %i2: i32, \
            %i3: i32, %i4: i32, %i5: i32, %i6: i32, %i7: i32, %i8: i32) -> () {
              vm.attr "binding_count" = "0"
              vm.attr "constant_count" = "0"
            ^bb0:
              vm.br ^bb0()
            }
            """;

    private static final int SIZE = 1 << 20;

    private final IreeRuntime runtime = IreeRuntime.builder()
            .device(
                    "local",
                    "local",
                    DeviceOptions.builder()
                            .memoryLimit(2 * SIZE)
                            .memoryHostWait(Duration.ofMinutes(5))
                            .memoryWait(Duration.ofMinutes(5))
                            .build())
            .taskWorkers(2)
            .build();
    private final Timeline timeline = runtime.createTimeline();
    private final Fence never = timeline.at(1);
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final Arena arena = Arena.ofShared();
    private final List<AutoCloseable> resources = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() throws Exception {
        go.countDown();
        for (AutoCloseable each : resources) {
            each.close();
        }
        never.close();
        timeline.close();
        runtime.close();
        assertThat(runtime.programs()).isEmpty();
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        assertThat(runtime.device().queue(0).counters().pending()).isZero();
        arena.close();
    }

    private Program stuck() {
        VmModule work = NativeModule.builder("work", 1, Object::new)
                .function("entered", "0v_v", (_, _) -> entered.countDown())
                .function("vmvx", "0rr_v", (_, call) -> vmvx(call))
                .attribute("iree.abi.model", "coarse-fences")
                .function("kernel", "0rr_v", (_, call) -> kernel(call))
                .attribute("iree.abi.model", "coarse-fences")
                .function("memory", "0rr_v", (_, call) -> memory(call))
                .attribute("iree.abi.model", "coarse-fences")
                .build();
        return runtime.load(ProgramOptions.builder()
                .module(work)
                .module("stuck", VmAssembler.assemble(PROGRAM))
                .build());
    }

    private void vmvx(VmCall call) {
        byte[] bytes = VmAssembler.assemble(KERNEL);
        MemorySegment data = arena.allocate(bytes.length, 64).copyFrom(MemorySegment.ofArray(bytes));
        try (Executable executable = runtime.device()
                .createExecutable(new ExecutableParams(VmvxExecutableLoader.FORMAT, data, null, new int[0]))) {
            entered.countDown();
            runtime.device()
                    .queue(0)
                    .dispatch(
                            call.ref(Fence.class),
                            call.required(Fence.class),
                            executable,
                            0,
                            DispatchConfig.of(1, 1, 1),
                            new int[0],
                            BindingTable.of(),
                            0);
        }
    }

    private void kernel(VmCall call) {
        runtime.device().queue(0).hostCall(call.ref(Fence.class), call.required(Fence.class), this::blocks, 0);
    }

    private void blocks() {
        entered.countDown();
        boolean over = false;
        while (!over) {
            try {
                go.await();
                over = true;
            } catch (InterruptedException e) {
                // like code of a device, without interrupts
            }
        }
    }

    /** Takes more than is left beside the memory of the test. */
    private void memory(VmCall call) {
        DeviceQueue queue = runtime.device().queue(0);
        Fence wait = call.ref(Fence.class);
        Fence done = call.required(Fence.class);
        try (TimelineSemaphore own = runtime.device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence there = Fence.at(own, 1)) {
            Buffer buffer = queue.alloca(wait, there, BufferParams.DEFAULT.withConsumer("work"), SIZE, 0);
            queue.dealloca(there, done, buffer, 0);
            buffer.release();
        }
        entered.countDown();
    }

    private static Stream<Arguments> all() {
        return Stream.of(Place.values())
                .flatMap(place -> Stream.of(Way.values()).map(way -> Arguments.of(place, way)));
    }

    @ParameterizedTest
    @MethodSource("all")
    void aCallEnds(Place place, Way way) throws Exception {
        Program program = stuck();
        if (place == Place.MEMORY) {
            resources.add(runtime.device().allocator().allocate(BufferParams.DEFAULT, SIZE + SIZE / 2));
        }
        CompletableFuture<Results> other = null;
        if (place == Place.LINE) {
            other = program.function("stuck.fence").invokeAsync(never);
            entered.await();
        }
        ProgramFunction function = functionAt(program, place);
        @Nullable Object[] inputs = place == Place.FENCE ? new @Nullable Object[] {never} : new @Nullable Object[0];
        if (way == Way.INTERRUPT) {
            interrupted(function, inputs);
        } else {
            later(program, function, inputs, way);
        }
        if (other != null) {
            other.cancel(true);
        }
        go.countDown();
        program.close();
        assertThat(program.monitor().activeCalls()).isZero();
    }

    private static ProgramFunction functionAt(Program program, Place place) {
        return program.function(
                place == Place.LINE
                        ? "stuck.loop"
                        : (place == Place.VMVX || place == Place.KERNEL || place == Place.MEMORY ? "work." : "stuck.")
                                + place.name().toLowerCase());
    }

    /** The calling thread. */
    private void interrupted(ProgramFunction function, @Nullable Object[] inputs) throws Exception {
        CompletableFuture<IreeException> end = new CompletableFuture<>();
        AtomicReference<Boolean> stayed = new AtomicReference<>();
        Thread caller = Thread.ofPlatform().start(() -> {
            try {
                function.invoke(inputs).close();
                end.complete(IreeException.of(StatusCode.OK, "it has returned"));
            } catch (IreeException e) {
                stayed.set(Thread.currentThread().isInterrupted());
                end.complete(e);
            }
        });
        entered.await();
        caller.interrupt();
        assertThat(end.get(60, TimeUnit.SECONDS).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(stayed.get()).as("the thread stays interrupted").isTrue();
        caller.join();
    }

    /** The calling thread is interrupted, and does not notice. */
    @ParameterizedTest
    @EnumSource(Place.class)
    void aCallOnItsThreadIsCancelledByItsNumber(Place place) throws Exception {
        Program program = stuck();
        if (place == Place.MEMORY) {
            resources.add(runtime.device().allocator().allocate(BufferParams.DEFAULT, SIZE + SIZE / 2));
        }
        CompletableFuture<Results> other = null;
        if (place == Place.LINE) {
            other = program.function("stuck.fence").invokeAsync(never);
            entered.await();
        }
        ProgramFunction function = functionAt(program, place);
        @Nullable Object[] inputs = place == Place.FENCE ? new @Nullable Object[] {never} : new @Nullable Object[0];
        CompletableFuture<IreeException> end = new CompletableFuture<>();
        AtomicReference<Boolean> stayed = new AtomicReference<>();
        Thread caller = Thread.ofPlatform().start(() -> {
            try {
                function.invoke(inputs).close();
                end.complete(IreeException.of(StatusCode.OK, "it has returned"));
            } catch (IreeException e) {
                stayed.set(Thread.currentThread().isInterrupted());
                end.complete(e);
            }
        });
        entered.await();
        int inProgress = place == Place.LINE ? 2 : 1;
        while (program.monitor().pendingCalls(10).size() < inProgress) {
            Thread.onSpinWait();
        }
        long number = program.monitor().pendingCalls(10).getLast().id();
        assertThat(program.monitor().cancelCall(number)).isTrue();
        assertThat(end.get(60, TimeUnit.SECONDS))
                .hasMessageContaining("call %d of '%s' was cancelled".formatted(number, function.fullName()))
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.CANCELLED);
        assertThat(stayed.get()).as("the thread stays interrupted").isFalse();
        caller.join();
        assertThat(program.monitor().cancelCall(number)).as("it has ended").isFalse();
        if (other != null) {
            assertThat(other).as("another call").isNotDone();
            other.cancel(true);
        }
        go.countDown();
        program.close();
        assertThat(program.monitor().activeCalls()).isZero();
    }

    private void later(Program program, ProgramFunction function, @Nullable Object[] inputs, Way way) throws Exception {
        CallOptions options =
                way == Way.DEADLINE ? CallOptions.DEFAULTS.timeout(Duration.ofMillis(20)) : CallOptions.DEFAULTS;
        CompletableFuture<Results> call = function.call(options, inputs);
        if (way != Way.DEADLINE) {
            entered.await();
        }
        switch (way) {
            case CANCEL -> call.cancel(true);
            case NUMBER -> cancelNewest(program, call);
            case CLOSE_PROGRAM -> closing(program::close);
            case CLOSE_RUNTIME -> closing(runtime::close);
            default -> {}
        }
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> call.get(60, TimeUnit.SECONDS))
                .satisfies(e -> assertThat(codeOf(e))
                        .isEqualTo(way == Way.DEADLINE ? StatusCode.DEADLINE_EXCEEDED : StatusCode.CANCELLED));
    }

    /** Whether the code of the call fails before the call is ended, or the program ends the call again. */
    @ParameterizedTest
    @EnumSource(names = {"LOOP", "YIELDING_LOOP"})
    void aCallCancelledByNumberReportsTheCancellationAlsoWhenTheProgramIsClosedAtOnce(Place place) throws Exception {
        for (int i = 0; i < Effort.rounds(200); i++) {
            Program program = stuck();
            CompletableFuture<Results> call = functionAt(program, place).invokeAsync();
            while (program.monitor().pendingCalls(1).isEmpty()) {
                Thread.onSpinWait();
            }
            PendingCall cancelled = program.monitor().pendingCalls(1).getFirst();
            assertThat(program.monitor().cancelCall(cancelled.id())).isTrue();
            program.close();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> call.get(60, TimeUnit.SECONDS))
                    .havingCause()
                    .withMessage("call %d of '%s' was cancelled by an operator", cancelled.id(), cancelled.function());
        }
    }

    private static void cancelNewest(Program program, CompletableFuture<Results> call) {
        PendingCall newest = program.monitor().pendingCalls(10).getLast();
        assertThat(program.monitor().cancelCall(newest.id())).isTrue();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> call.get(60, TimeUnit.SECONDS))
                .havingCause()
                .withMessage("call %d of '%s' was cancelled by an operator", newest.id(), newest.function());
    }

    /** Ends by itself: at once, or after the return of unstoppable code. */
    private void closing(Runnable close) {
        Thread.ofVirtual().start(close);
    }

    private static StatusCode codeOf(Throwable thrown) {
        return thrown instanceof ExecutionException && thrown.getCause() instanceof IreeException e
                ? e.code()
                : thrown instanceof IreeException e ? e.code() : StatusCode.CANCELLED;
    }

    @Test
    void aRuntimeIsClosedInTimeAlsoWhenCodeOfADeviceDoesNotReturn() throws Exception {
        Program program = stuck();
        CompletableFuture<Results> call = program.function("work.kernel").invokeAsync();
        entered.await();
        runtime.close(Duration.ofMillis(50)); // before the code returns, and whether or not all else is freed by then
        assertThatExceptionOfType(ExecutionException.class).isThrownBy(call::get);
        go.countDown();
        assertThat(runtime.close(Duration.ofMinutes(1)))
                .as("once it has returned")
                .isTrue();
    }

    private static final String INITIALISER = """
            vm.module @stuck version 0
            vm.import @work.entered cconv "0v_v"
            vm.import @work.waits cconv "0v_v"
            vm.export @__init
            vm.func @__init() -> () {
            ^bb0:
              vm.call @work.entered()
              vm.br ^bb1()
            ^bb1:
              STUCK
            }
            """;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "vm.br ^bb1()",
                "vm.yield ^bb1()",
                "vm.call.yieldable @work.waits() -> ^bb2()\n^bb2:\n  vm.return"
            })
    void aLoadEndsWithItsRuntimeOrTheInterruptOfItsThread(String stuck) throws Exception {
        for (boolean closing : new boolean[] {false, true}) {
            CountDownLatch began = new CountDownLatch(1);
            VmModule work = NativeModule.builder("work", 1, Object::new)
                    .function("entered", "0v_v", (_, _) -> began.countDown())
                    .function(
                            "waits",
                            "0v_v",
                            (_, call) -> call.defer(new io.github.iree4j.vm.VmWait() {
                                @Override
                                public boolean isReady() {
                                    return false;
                                }

                                @Override
                                public void whenReady(Runnable callback) {}

                                @Override
                                public void await() {
                                    throw new UnsupportedOperationException();
                                }
                            }))
                    .build();
            ProgramOptions options = ProgramOptions.builder()
                    .module(work)
                    .module("stuck", VmAssembler.assemble(INITIALISER.replace("STUCK", stuck)))
                    .build();
            FutureTask<Program> load = new FutureTask<>(() -> runtime.load(options));
            Thread loader = Thread.ofPlatform().start(load);
            began.await();
            if (closing) {
                runtime.close();
            } else {
                loader.interrupt();
            }
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> load.get(60, TimeUnit.SECONDS))
                    .satisfies(e -> assertThat(codeOf(e)).isEqualTo(StatusCode.CANCELLED));
            loader.join();
        }
    }

    @Test
    void aThreadInterruptedBeforeItsCallMakesNoCall() {
        Program program = stuck();
        Thread.currentThread().interrupt();
        try {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("stuck.loop").invoke())
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED));
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        program.close();
    }
}

package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.monitor.PendingCall.State;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The descriptions of calls in progress. */
@Timeout(300)
class PendingCallsTest {
    /**
     * wait: waits for a fence. barrier: a function with fences, on a device that waits for one fence and signals the
     * other. yield: gives way as often as asked for.
     */
    private static final String WAITER = """
            vm.module @waiter version 0
            vm.type !hal.device
            vm.type !hal.fence
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.import @hal.devices.get cconv "0i_r"
            vm.import @hal.device.queue.barrier cconv "0rIrrI_v"
            vm.export @wait
            vm.export @barrier
            vm.export @yield
            vm.func @yield(%i0: i32) -> () {
            ^bb0:
              %i1 = vm.const.i32 -1
              vm.br ^bb1()
            ^bb1:
              vm.cond_br %i0, ^bb2(), ^bb3()
            ^bb2:
              %i0 = vm.add.i32 %i0, %i1
              vm.yield ^bb1()
            ^bb3:
              vm.return
            }
            vm.func @wait(%r0: !hal.fence) -> (i32) {
            ^bb0:
              %i1 = vm.const.i32 -1
              %i2:3 = vm.const.i64.zero
              %i4 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i1, %i2:3, %r0)
              vm.discard.refs %r0
              vm.return %i4
            }
            vm.func @barrier(%r0: !hal.fence, %r1: !hal.fence) -> () {
              vm.attr "iree.abi.declaration" = "async func @barrier() -> ()"
              vm.attr "iree.abi.model" = "coarse-fences"
            ^bb0:
              %i0 = vm.const.i32 0
              %r2 = vm.call @hal.devices.get(%i0)
              %i2:3 = vm.const.i64 -1
              %i4:5 = vm.const.i64.zero
              vm.call @hal.device.queue.barrier(%r2, %i2:3, %r0, %r1, %i4:5)
              vm.return
            }
            """;

    private final IreeRuntime runtime = IreeRuntime.builder().taskWorkers(2).build();
    private final Timeline timeline = runtime.createTimeline();
    private final Program program = runtime.load(ProgramOptions.builder()
            .module("waiter", VmAssembler.assemble(WAITER))
            .build());

    @AfterEach
    void nothingIsLeft() {
        timeline.close();
        program.close();
        runtime.close();
        while (!runtime.programs().isEmpty()) {
            Thread.onSpinWait();
        }
        assertThat(program.monitor().pendingCalls(10)).isEmpty();
    }

    private List<PendingCall> calls(int count, State state) {
        while (true) {
            List<PendingCall> calls = program.monitor().pendingCalls(10);
            if (calls.size() == count && calls.getFirst().state() == state) {
                return calls;
            }
            Thread.onSpinWait();
        }
    }

    private void assertWaitsFor(PendingCall call, long value) {
        assertThat(call.waits()).singleElement().satisfies(wait -> {
            assertThat(wait.semaphore()).isEqualTo(timeline.semaphore().id());
            assertThat(wait.value()).isEqualTo(value);
            assertThat(wait.reached()).isZero();
            assertThat(wait.promised()).isFalse();
        });
    }

    private static void end(CompletableFuture<Results> call) {
        call.join().close();
    }

    @Test
    void aCallSuspendedByItsProgramNamesThePointAwaited() {
        try (Fence fence = timeline.at(5)) {
            CompletableFuture<Results> call = program.function("wait").invokeAsync(fence);
            PendingCall pending = calls(1, State.SUSPENDED).getFirst();
            assertThat(pending.function()).isEqualTo("waiter.wait");
            assertThat(pending.since()).isPositive();
            assertWaitsFor(pending, 5);
            timeline.semaphore().signal(5);
            end(call);
        }
        assertThat(program.monitor().pendingCalls(10)).isEmpty();
    }

    @Test
    void aThreadWaitingInACallIsSeenAsWell() throws InterruptedException {
        try (Fence fence = timeline.at(6)) {
            Thread caller = Thread.ofVirtual()
                    .start(() -> program.function("wait").invoke(fence).close());
            assertWaitsFor(calls(1, State.SUSPENDED).getFirst(), 6);
            timeline.semaphore().signal(6);
            caller.join();
        }
        assertThat(program.monitor().pendingCalls(10)).isEmpty();
    }

    /** CALL-2: a gap, or a second entry, would be seen by some of the looks. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aThreadWaitingAgainAndAgainIsListedOnceAtEachMoment(boolean overlaps) {
        try (Program yielding = runtime.load(ProgramOptions.builder()
                .module("waiter", VmAssembler.assemble(WAITER))
                .overlappingCalls(overlaps)
                .build())) {
            CompletableFuture<Results> call = new CompletableFuture<>();
            Thread.ofPlatform()
                    .start(() -> call.completeAsync(
                            () -> yielding.function("yield").invoke(Integer.MAX_VALUE), Runnable::run));
            List<PendingCall> calls = List.of();
            while (calls.isEmpty()) {
                assertThat(call).isNotDone();
                calls = yielding.monitor().pendingCalls(10);
            }
            long id = calls.getFirst().id();
            for (int looks = Effort.rounds(5_000); looks > 0; looks--) {
                calls = yielding.monitor().pendingCalls(10);
                assertThat(calls).extracting(PendingCall::id).containsExactly(id);
            }
            assertThat(yielding.monitor().cancelCall(id)).isTrue();
            assertThatExceptionOfType(CompletionException.class).isThrownBy(call::join);
        }
    }

    @Test
    void threadsInLineAreListedBehindTheThreadInItsTurnAndAsManyAsAreActive() throws InterruptedException {
        List<Thread> callers = new ArrayList<>();
        try (Fence fence = timeline.at(6)) {
            for (int i = 0; i < 3; i++) {
                callers.add(Thread.ofVirtual()
                        .start(() -> program.function("wait").invoke(fence).close()));
                calls(i + 1, State.SUSPENDED);
            }
            List<PendingCall> calls = program.monitor().pendingCalls(10);
            assertThat(calls)
                    .extracting(PendingCall::state)
                    .containsExactly(State.SUSPENDED, State.IN_LINE, State.IN_LINE);
            assertThat(calls).hasSize(program.monitor().activeCalls());
            assertThat(calls).extracting(PendingCall::id).doesNotHaveDuplicates();
            assertThat(program.monitor().pendingCalls(10))
                    .extracting(PendingCall::id)
                    .as("the same calls")
                    .isEqualTo(calls.stream().map(PendingCall::id).toList());
            assertThat(program.monitor().turns().inLine()).isEqualTo(2);
            timeline.semaphore().signal(6);
            for (Thread each : callers) {
                each.join();
            }
        }
        assertThat(program.monitor().turns().inLine()).isZero();
        assertThat(program.monitor().turns().waited()).isEqualTo(2);
        assertThat(program.monitor().turns().time()).isPositive();
    }

    @Test
    void aThreadRunningInItsCallIsListed() throws InterruptedException {
        try (Program spinning = runtime.load(ProgramOptions.builder()
                .module("spinner", VmAssembler.assemble("""
                        vm.module @spinner version 0
                        vm.export @spin
                        vm.func @spin() -> () {
                        ^bb0:
                          vm.br ^bb0()
                        }
                        """))
                .build())) {
            Thread caller = Thread.ofPlatform()
                    .start(() -> assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() -> spinning.function("spin").invoke()));
            while (spinning.monitor().pendingCalls(10).stream().noneMatch(call -> call.state() == State.RUNNING)) {
                Thread.onSpinWait();
            }
            assertThat(spinning.monitor().pendingCalls(10)).singleElement().satisfies(call -> {
                assertThat(call.function()).isEqualTo("spinner.spin");
                assertThat(call.unchanged()).isPositive();
            });
            caller.interrupt();
            caller.join();
            assertThat(spinning.monitor().pendingCalls(10)).isEmpty();
        }
    }

    @Test
    void anOperationNamesItsCallAndItsSignals() {
        try (Timeline inputs = runtime.createTimeline("inputs");
                Timeline results = runtime.createTimeline("results");
                Fence ready = inputs.at(3);
                Fence done = results.at(4)) {
            program.function("barrier")
                    .call(CallOptions.DEFAULTS.after(ready).signal(done))
                    .join()
                    .close();
            assertThat(runtime.device().queue(0).pending(10)).singleElement().satisfies(operation -> {
                assertThat(operation.program()).isEqualTo("waiter");
                assertThat(operation.function()).isEqualTo("waiter.barrier");
                assertThat(operation.waits())
                        .extracting(PendingOperation.Wait::timeline)
                        .containsExactly("inputs");
                assertThat(operation.signals())
                        .containsExactly(
                                new PendingOperation.Point(results.semaphore().id(), 4, "results"));
            });
            assertThat(program.monitor().pendingCalls(10))
                    .singleElement()
                    .satisfies(call -> assertThat(call.waits())
                            .extracting(PendingOperation.Wait::timeline)
                            .containsExactly("results"));
            inputs.semaphore().signal(3);
            done.await();
        }
    }

    @Test
    void timelinesOfProgramsHaveTheNamesOfTheirCalls() {
        try (Fence ready = timeline.at(3)) {
            CompletableFuture<Results> call = program.function("barrier").call(CallOptions.DEFAULTS.after(ready));
            assertThat(calls(1, State.BEFORE_RESULTS).getFirst().waits())
                    .extracting(PendingOperation.Wait::timeline)
                    .containsExactly("call of 'waiter.barrier'");
            timeline.semaphore().signal(3);
            end(call);
        }
    }

    @Test
    void aCallWithoutReadyInputsNamesThePointAwaited() {
        try (Fence inputs = timeline.at(7);
                Fence done = timeline.at(8)) {
            CompletableFuture<Results> call = program.function("wait")
                    .call(CallOptions.DEFAULTS.after(inputs).signal(done), (Object) null);
            assertWaitsFor(calls(1, State.BEFORE_INPUTS).getFirst(), 7);
            timeline.semaphore().signal(7);
            end(call);
            done.await();
        }
    }

    @Test
    void aWaiterInLineIsBehindTheHolder() {
        try (Fence fence = timeline.at(1)) {
            CompletableFuture<Results> first = program.function("wait").invokeAsync(fence);
            calls(1, State.SUSPENDED);
            CompletableFuture<Results> second = program.function("wait").invokeAsync(fence);
            assertThat(calls(2, State.SUSPENDED))
                    .extracting(PendingCall::state)
                    .containsExactly(State.SUSPENDED, State.IN_LINE);
            assertThat(program.monitor().pendingCalls(1)).hasSize(1);
            timeline.semaphore().signal(1);
            end(first);
            end(second);
        }
    }

    @Test
    void workOnDevicesIsAwaitedUntilDone() {
        try (Fence inputs = timeline.at(1);
                Fence done = timeline.at(2)) {
            end(program.function("barrier")
                    .call(CallOptions.DEFAULTS.after(inputs).signal(done))); // has returned; its work waits
            PendingCall pending = calls(1, State.BEFORE_RESULTS).getFirst();
            assertThat(pending.waits()).extracting(PendingOperation.Wait::value).containsExactly(2L);
            timeline.semaphore().signal(1);
            done.await();
        }
        while (!program.monitor().pendingCalls(10).isEmpty()) {
            Thread.onSpinWait(); // leaves on a separate thread
        }
    }

    @Test
    void workWithoutAFenceOfTheCallerIsWaitedForAsWell() {
        try (Fence gate = timeline.at(1)) {
            CompletableFuture<Results> call = program.function("barrier").call(CallOptions.DEFAULTS.after(gate));
            assertThat(calls(1, State.BEFORE_RESULTS).getFirst().waits()).hasSize(1);
            timeline.semaphore().signal(1);
            end(call);
        }
        assertThat(program.monitor().pendingCalls(10)).isEmpty();
    }

    @Test
    void cancelledFailedAndRefusedWorkIsGone() {
        try (Fence fence = timeline.at(9)) {
            CompletableFuture<Results> inside = program.function("wait").invokeAsync(fence);
            calls(1, State.SUSPENDED);
            CompletableFuture<Results> before =
                    program.function("wait").call(CallOptions.DEFAULTS.after(fence), (Object) null);
            calls(2, State.SUSPENDED);
            before.cancel(true);
            assertThat(calls(1, State.SUSPENDED)).hasSize(1);
            inside.cancel(true);
            while (!program.monitor().pendingCalls(10).isEmpty()) {
                Thread.onSpinWait(); // ends in its turn
            }
            try (Fence reached = timeline.at(0)) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() ->
                                program.function("wait").call(CallOptions.DEFAULTS.signal(reached), (Object) null));
            }
        }
        assertThat(program.monitor().pendingCalls(10)).isEmpty();
    }

    /** Otherwise a recording taken in between reports an unsignalled point. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCallIsListedUntilItsFenceHasAnOutcome(boolean succeeds) {
        try (Timeline own = runtime.createTimeline();
                Fence inputs = own.at(1);
                Fence done = timeline.at(1)) {
            CompletableFuture<List<PendingCall>> seen = program.function("wait")
                    .call(CallOptions.DEFAULTS.after(inputs).signal(done), (Object) null)
                    .handle((results, failure) -> {
                        assertThat(failure == null).isEqualTo(succeeds);
                        assertThat(done.query()).isEqualTo(StatusCode.DEFERRED);
                        if (results != null) {
                            results.close();
                        }
                        return program.monitor().pendingCalls(10);
                    });
            if (succeeds) {
                inputs.signal();
            } else {
                inputs.fail(IreeException.of(StatusCode.ABORTED, "given up"));
            }
            assertThat(seen.join()).singleElement().satisfies(call -> {
                assertThat(call.state()).as("keeps no turn").isEqualTo(State.BEFORE_RESULTS);
                assertThat(call.waits()).as("not for the point's own signal").isEmpty();
            });
            CompletableFuture<StatusCode> outcome = new CompletableFuture<>();
            done.whenReached(_ -> outcome.complete(done.query()));
            assertThat(outcome.join()).isEqualTo(succeeds ? StatusCode.OK : StatusCode.ABORTED);
        }
        while (!program.monitor().pendingCalls(10).isEmpty()) {
            Thread.onSpinWait(); // leaves the list after the signal
        }
    }

    @Test
    void aCallWithAnOpenFenceDoesNotKeepAContinuationFromClosingItsProgram() {
        try (Fence inputs = timeline.at(1);
                Fence done = timeline.at(2)) {
            CompletableFuture<Boolean> freed = program.function("wait")
                    .call(CallOptions.DEFAULTS.after(inputs).signal(done), (Object) null)
                    .thenApply(results -> {
                        results.close();
                        program.close();
                        return runtime.programs().isEmpty();
                    });
            inputs.signal();
            assertThat(freed.join()).isTrue();
            done.await();
        }
    }
}

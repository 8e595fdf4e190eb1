package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls ending by themselves are cancelled at the same time. */
@Timeout(300)
class CancelledByNumberTest {
    private static final String PROGRAM = """
            vm.module @short version 0
            vm.export @count
            vm.func @count() -> (i32) {
            ^bb0:
              %i0 = vm.const.i32 0
              %i1 = vm.const.i32 1
              %i2 = vm.const.i32 300
              vm.br ^bb1()
            ^bb1:
              %i0 = vm.add.i32 %i0, %i1
              %i3 = vm.cmp.lt.i32.s %i0, %i2
              vm.cond_br %i3, ^bb1(), ^bb2()
            ^bb2:
              vm.return %i0
            }
            """;

    private static final String WAITING = """
            vm.module @waiting version 0
            vm.export @forever
            vm.func @forever() -> () {
            ^bb0:
              vm.br ^bb1()
            ^bb1:
              vm.yield ^bb1()
            }
            """;

    @Test
    void aRepeatedlyContinuedCallIsSeenAllTheTime() throws Exception {
        try (IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build();
                Program program = runtime.load(ProgramOptions.builder()
                        .module("waiting", VmAssembler.assemble(WAITING))
                        .build())) {
            CompletableFuture<Void> call = CompletableFuture.runAsync(
                    () -> program.function("forever").invoke().close());
            while (program.monitor().pendingCalls(2).isEmpty()) {
                Thread.onSpinWait();
            }
            long number = program.monitor().pendingCalls(2).getFirst().id();
            for (int i = 0; i < 200_000; i++) {
                assertThat(program.monitor().pendingCalls(2))
                        .as("look %d", i)
                        .extracting(PendingCall::id)
                        .containsExactly(number);
            }
            assertThat(program.monitor().cancelCall(number)).isTrue();
            assertThat(call)
                    .failsWithin(Duration.ofMinutes(1))
                    .withThrowableThat()
                    .withMessageContaining(
                            "call %d of 'waiting.forever' was cancelled by an operator".formatted(number));
        }
    }

    /** A call of a thread, in its turn, and another in line behind the call. */
    @Test
    void theFailureSaysWhyTheCallWasCancelled() throws Exception {
        try (IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build();
                Program program = runtime.load(ProgramOptions.builder()
                        .module("waiting", VmAssembler.assemble(WAITING))
                        .build())) {
            CompletableFuture<Void> first = CompletableFuture.runAsync(
                    () -> program.function("forever").invoke().close());
            while (program.monitor().pendingCalls(2).isEmpty()) {
                Thread.onSpinWait();
            }
            CompletableFuture<Results> second = program.function("forever").invokeAsync();
            for (PendingCall each : program.monitor().pendingCalls(2)) {
                assertThat(program.monitor().cancelCall(each.id(), "the house is closed"))
                        .isTrue();
            }
            for (CompletableFuture<?> each : List.of(first, second)) {
                assertThat(each)
                        .failsWithin(Duration.ofMinutes(1))
                        .withThrowableThat()
                        .withMessageMatching(".*call [0-9]+ of 'waiting.forever' was cancelled: the house is closed");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theFailureNamesTheFunctionOfTheConfiguredProgram(boolean interrupted) throws Exception {
        try (IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build();
                Program program = runtime.load(ProgramOptions.builder()
                        .name("house")
                        .module("waiting", VmAssembler.assemble(WAITING))
                        .build())) {
            CompletableFuture<Void> call = new CompletableFuture<>();
            Thread caller = Thread.ofPlatform().start(() -> {
                try {
                    program.function("forever").invoke().close();
                } catch (IreeException e) {
                    call.completeExceptionally(e);
                }
            });
            while (program.monitor().pendingCalls(2).isEmpty()) {
                Thread.onSpinWait();
            }
            Runnable end = interrupted ? caller::interrupt : program::close;
            end.run();
            assertThat(call)
                    .failsWithin(Duration.ofMinutes(1))
                    .withThrowableThat()
                    .havingCause()
                    .withMessageContaining("'house.forever'")
                    .withMessageNotContaining("of 'waiting.");
        }
    }

    // END-3
    @Test
    void onlyTheCallOfThisNumberEndsAndItsThreadIsNotInterruptedAfterwards() throws Exception {
        Set<Long> cancelled = ConcurrentHashMap.newKeySet();
        List<IreeException> failures = new ArrayList<>();
        AtomicBoolean over = new AtomicBoolean();
        try (IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build();
                Program program = runtime.load(ProgramOptions.builder()
                        .module("short", VmAssembler.assemble(PROGRAM))
                        .build())) {
            ProgramFunction count = program.function("count");
            Thread operator = Thread.ofPlatform().start(() -> {
                while (!over.get()) {
                    for (PendingCall each : program.monitor().pendingCalls(2)) {
                        if (program.monitor().cancelCall(each.id())) {
                            cancelled.add(each.id());
                        }
                    }
                }
            });
            for (int i = 0; i < 5_000 || failures.isEmpty(); i++) {
                try (Results results = count.invoke()) {
                    assertThat(results.intValue(0)).isEqualTo(300);
                } catch (IreeException e) {
                    failures.add(e);
                }
                assertThat(Thread.currentThread().isInterrupted()).isFalse();
            }
            over.set(true);
            operator.join();
        }
        for (IreeException each : failures) {
            assertThat(each.code()).isEqualTo(StatusCode.CANCELLED);
            long number = Long.parseLong(each.getMessage().replaceAll("\\D*(\\d+).*", "$1"));
            assertThat(cancelled).contains(number);
        }
    }
}
